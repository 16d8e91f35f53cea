"""What a package imports on first use, a type checker knows by the same names and modules."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

import rlk
from rlk.registry.kinds import KINDS
from rlk.registry.registries import Registries

ROOT = Path(__file__).parents[2]
LAZY = [
    path
    for path in sorted(ROOT.glob("plugins/*/*/src/**/__init__.py"))
    if "lazy_names(" in path.read_text()
]


def imported_for_type_checkers(tree: ast.Module, package: str) -> dict[str, str]:
    """name -> submodule, of the imports under `TYPE_CHECKING`."""
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    assert ast.unparse(block.test) == "TYPE_CHECKING"
    return {
        str(alias.asname): node.module.removeprefix(f"{package}.")
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }


def imported_on_first_use(tree: ast.Module) -> dict[str, str]:
    """name -> submodule, as `lazy_names` is told."""
    (call,) = (
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "lazy_names"
    )
    homes: dict[str, str] = ast.literal_eval(call.args[1])
    return homes


def test_there_are_some():
    assert len(LAZY) >= 15


@pytest.mark.parametrize("path", LAZY, ids=lambda path: path.parent.name)
def test_the_names_for_type_checkers_are_those_of_the_program(path: Path):
    tree = ast.parse(path.read_text())
    package = ".".join(path.parent.parts[path.parent.parts.index("src") + 1 :])
    assert imported_for_type_checkers(tree, package) == imported_on_first_use(tree)


def test_type_checkers_know_every_registry_and_what_all_of_them_have():
    tree = ast.parse(inspect.getsource(rlk.registry))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    kinds = [node.target.id for node in block.body if isinstance(node, ast.AnnAssign)]
    assert kinds == [*KINDS]
    methods = {node.attr for node in ast.walk(block) if isinstance(node, ast.Attribute)}
    public = {name for name in vars(Registries) if not name.startswith("_")}
    assert methods == public - {"discover"}
