"""The rules for every distribution of this repository, checked without importing it."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from rlk_scaffold.kinds import GROUP, groups
from rlk_scaffold.manifest import Manifest, import_name, read_manifest, render_pyproject

#: Entry-point groups that are not of a kind.
OTHER_GROUPS = ("pytest11", GROUP)
_KERNEL = "rlk-kernel"


def problems(folder: Path) -> list[str]:
    """What is wrong with the distribution in a folder, one line each; empty if nothing is."""
    try:
        manifest = read_manifest(folder / "pyproject.toml")
    except (OSError, ValueError) as error:
        return [f"{folder.name}: {error}"]
    found = [
        *_form(folder, manifest),
        *_names(folder, manifest),
        *_requirements(manifest),
        *_files(folder, manifest),
    ]
    try:
        found += _entry_points(folder, manifest)
    except SyntaxError as error:
        found.append(f"{error.filename}, line {error.lineno}: {error.msg}")
    return [f"{manifest.name}: {problem}" for problem in found]


def clashes(folders: Iterable[Path]) -> list[str]:
    """Names that entry points of more than one of these distributions have, for any kind."""
    owners: dict[str, list[str]] = {}
    for folder in folders:
        manifest = read_manifest(folder / "pyproject.toml")
        for group, points in manifest.entry_points.items():
            if group.startswith("rlk."):
                for name in points:
                    owners.setdefault(name, []).append(f"{group} of {manifest.name}")
    return [
        f"{name!r} is given by {', '.join(found)}; names are unique across kinds"
        for name, found in owners.items()
        if len(found) > 1
    ]


def _form(folder: Path, manifest: Manifest) -> Iterator[str]:
    text = (folder / "pyproject.toml").read_text(encoding="utf-8")
    tools = sorted(set(tomllib.loads(text).get("tool", {})) - {"flit"})
    if tools:
        yield f"configures {', '.join(tools)}; that belongs in the root's pyproject.toml"
    elif text != render_pyproject(manifest):
        yield "pyproject.toml is not in canonical form; run: python -m rlk_scaffold.sync"


def _names(folder: Path, manifest: Manifest) -> Iterator[str]:
    if manifest.name != f"rlk-{folder.name}":
        yield f"must be called rlk-{folder.name}, as its folder is"
    if manifest.name != _KERNEL and manifest.module != import_name(manifest.name):
        yield f"its import name must be {import_name(manifest.name)}, found {manifest.module}"
    for group in manifest.entry_points:
        if group not in OTHER_GROUPS and group not in groups():
            yield f"unknown entry-point group {group!r}; known: {', '.join(sorted(groups()))}"


def _requirements(manifest: Manifest) -> Iterator[str]:
    names = []
    for requirement in manifest.dependencies:
        try:
            parsed = Requirement(requirement)
        except InvalidRequirement as error:
            yield f"{requirement!r} is no requirement: {str(error).splitlines()[0]}"
            continue
        name, versions = canonicalize_name(parsed.name), str(parsed.specifier)
        names.append(name)
        if name.startswith("rlk-") and not re.fullmatch(r">=[\d.]+", versions):
            yield f"{requirement!r}: our own are required as 'NAME>=X.Y', without an upper bound"
        if "==" in versions:
            yield f"{requirement!r} pins a version; pins belong in constraints.txt"
    if manifest.name != _KERNEL and _KERNEL not in names:
        yield f"does not require {_KERNEL}"
    for name in {name for name in names if names.count(name) > 1}:
        yield f"requires {name} twice"


def _files(folder: Path, manifest: Manifest) -> Iterator[str]:
    package = Path("src", manifest.module)
    for path in (package / "__init__.py", Path("README.md")):
        if not (folder / path).is_file() or not (folder / path).read_text(encoding="utf-8").strip():
            yield f"{path.as_posix()} is missing or empty"
    if not (folder / package / "py.typed").is_file():
        yield f"{package.as_posix()}/py.typed is missing"
    if not any(folder.glob("tests/**/test_*.py")):
        yield "has no tests/test_*.py"


def _entry_points(folder: Path, manifest: Manifest) -> Iterator[str]:
    targets = [*manifest.scripts.items()]
    for points in manifest.entry_points.values():
        targets += points.items()
    for name, target in targets:
        module, _, path = target.partition(":")
        file = folder / "src" / module.replace(".", "/")
        found = [f for f in (file.with_suffix(".py"), file / "__init__.py") if f.is_file()]
        if not found:
            yield f"entry point {name!r} names {module}, which is not in src/"
        elif path and path.split(".")[0] not in _defined(found[0]):
            yield f"entry point {name!r} names {target}, and {module} defines no {path!r}"


def _defined(file: Path) -> set[str]:
    """The names that a module binds at its top level."""
    names: set[str] = set()
    for node in _parse(file).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
    return names


def _parse(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"), filename=str(file))
