"""Public names of Stable-Baselines3 and sb3-contrib: each is here, or an error names another."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TypeVar, get_origin

import pytest
from against_peers.side_by_side import contrib, sb3

#: Their package -> that with the same names here.
HERE = {sb3: "rlk_sb3", contrib: "rlk_sb3_contrib"}


#: Modules of theirs that are not here: what models do inside, which no program imports.
INSIDE = (
    "stable_baselines3.common.vec_env.util",
    "sb3_contrib.common.maskable.buffers",
    "sb3_contrib.common.recurrent.buffers",
    "sb3_contrib.common.recurrent.type_aliases",
    "sb3_contrib.common.torch_layers",
    "sb3_contrib.common.utils",
    "sb3_contrib.common.vec_env",
    "sb3_contrib.common.vec_env.async_eval",
)


def modules(package: ModuleType) -> Iterator[tuple[ModuleType, str]]:
    """Each module of a package of theirs, but for those of `INSIDE`, with the name of that here."""
    there = package.__name__
    found = pkgutil.walk_packages(package.__path__, f"{there}.")
    for name in (there, *(one.name for one in found if one.name not in INSIDE)):
        yield importlib.import_module(name), HERE[package] + name.removeprefix(there)


def public_names(module: ModuleType) -> set[str]:
    """What a module defines, or has in `__all__`, or as a package imports from its own modules.

    Names for its own annotations (`SelfPPO`, `MaybeMasks`), and variables that it needs while it is
    imported, do not count.
    """
    names: set[str] = {*getattr(module, "__all__", ())}
    for node in ast.parse(Path(str(module.__file__)).read_text()).body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {one.id for one in node.targets if isinstance(one, ast.Name)}
        elif isinstance(node, ast.ImportFrom) and hasattr(module, "__path__"):
            is_own = (node.module or "").startswith(module.__name__)
            names |= {one.asname or one.name for one in node.names if is_own}
    if not module.__name__.endswith("type_aliases"):
        names = {name for name in names if not _is_type(getattr(module, name))}
    at_work = {"file_handler", "version_file"}
    return {name for name in names - at_work if not name.startswith("_")}


def _is_type(value: object) -> bool:
    """Whether this is a variable of types, or a composed type."""
    return isinstance(value, TypeVar) or get_origin(value) is not None


PAIRS = [pair for package in HERE for pair in modules(package)]


@pytest.mark.parametrize(("there", "here"), PAIRS, ids=[pair[1] for pair in PAIRS])
def test_a_public_name_is_here_or_its_error_says_what_to_write(
    there: ModuleType, here: str
) -> None:
    for name in sorted(public_names(there)):
        try:
            getattr(importlib.import_module(here), name)
        except ImportError as error:
            assert "Write " in str(error), f"{here}.{name}: {error}"
