"""Which module of the kernel may import which, types included."""

from __future__ import annotations

import ast
import functools
import graphlib
from pathlib import Path

import pytest

import rlk

ROOT = Path(rlk.__file__).parent
#: They name the types that seams carry, under TYPE_CHECKING; whatever lies behind these is theirs.
SEAMS = ("rlk.hookspecs", "rlk.protocols")
#: Each is built on those before it.
ROOMS = tuple(f"rlk.{room}." for room in ("registry", "planning", "restoring", "running", "saving"))


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(("rlk", *parts)).removesuffix(".__init__")


def modules() -> dict[str, Path]:
    return {name_of(path): path for path in ROOT.rglob("*.py")}


@functools.cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def imports(path: Path, known: set[str], *, types: bool) -> set[str]:
    """Modules of the kernel that a file imports; under TYPE_CHECKING only with `types`."""
    found = set()

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING" and not types:
            return
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            submodules = {f"{node.module}.{alias.name}" for alias in node.names} & known
            found.update(submodules or {node.module})
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(parsed(path))
    return found & known - {"rlk"}


def in_rooms(used: set[str], rooms: tuple[str, ...]) -> list[str]:
    """Those modules that are a room, or in it."""
    return [name for name in used if f"{name}.".startswith(rooms)]


def test_no_modules_of_the_kernel_import_each_other_in_a_circle_types_included():
    known = modules()
    graph = {
        name: imports(path, set(known), types=name not in SEAMS)
        for name, path in known.items()
        if name != "rlk"
    }
    assert "rlk.registry.entry" in graph["rlk.planning.choice"]
    list(graphlib.TopologicalSorter(graph).static_order())


def test_the_rooms_are_built_on_each_other():
    known = modules()
    for name, path in known.items():
        own = next((n for n, room in enumerate(ROOMS) if f"{name}.".startswith(room)), None)
        if own is not None:
            used = imports(path, set(known), types=True)
            assert not in_rooms(used, ROOMS[own + 1 :]), path


def test_the_top_level_holds_what_plugins_import():
    assert {path.stem for path in ROOT.glob("*.py")} == {
        "__init__",
        "__main__",
        "abilities",
        "agent",
        "command_line",
        "component",
        "documents",
        "episode_ends",
        "errors",
        "files",
        "finite",
        "growing_file",
        "hookspecs",
        "lazy_names",
        "making",
        "one_process",
        "optimise",
        "plain_values",
        "program_warnings",
        "protocols",
        "records",
        "required_methods",
        "settings",
        "signatures",
        "spaces",
        "strict_types",
        "structure",
        "terminal",
        "vector_wrapper",
        "wrapping",
    }


def test_what_plugins_import_takes_only_types_from_the_rooms():
    known = modules()
    for path in ROOT.glob("*.py"):
        if path.stem in ("agent", "making", "__init__"):
            continue
        used = imports(path, set(known), types=False)
        assert not in_rooms(used, ROOMS), path


@pytest.mark.parametrize(
    "code", ["import rlk.running.train", "from rlk import running", "from rlk.running import train"]
)
def test_a_module_of_a_room_is_noticed_however_it_is_imported(code, tmp_path):
    file = tmp_path / "code.py"
    file.write_text(code)
    assert len(in_rooms(imports(file, set(modules()), types=True), ROOMS)) == 1
