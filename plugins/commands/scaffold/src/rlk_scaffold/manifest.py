"""The `pyproject.toml` of a distribution, read and written in one canonical form.

Writing a file in this form gives the same bytes, so that differences can be detected.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from rlk_scaffold.bounds import in_step, minor
from rlk_scaffold.templates import render

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


@attrs.frozen(kw_only=True)
class Manifest:
    """The contents of a distribution's `pyproject.toml`.

    Attributes:
        name: of the distribution (`rlk-dqn`).
        module: its import name (`rlk_dqn`).
        version, description: as a package index shows them.
        dependencies: requirement strings.
        extras: extra -> requirement strings.
        scripts: command -> `module:function`.
        entry_points: group -> name -> `module:object`.
    """

    name: str
    module: str
    version: str = "0.1.0"
    description: str
    dependencies: tuple[str, ...] = ()
    extras: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)
    scripts: Mapping[str, str] = attrs.field(factory=dict)
    entry_points: Mapping[str, Mapping[str, str]] = attrs.field(factory=dict)


def import_name(dist: str) -> str:
    """`rlk-dqn` -> `rlk_dqn`."""
    return re.sub(r"[-_.]+", "_", dist).lower()


def read_manifest(path: Path) -> Manifest:
    """The manifest in a `pyproject.toml`; keys that a manifest does not have are ignored.

    Raises:
        ValueError: if it is not TOML, or lacks a name, a description or flit's module.
        OSError: if it cannot be read.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path} is not TOML: {error}") from error
    project: dict[str, Any] = data.get("project", {})
    module = data.get("tool", {}).get("flit", {}).get("module", {}).get("name")
    for key, value in (
        ("project.name", project.get("name")),
        ("project.description", project.get("description")),
        ("tool.flit.module.name", module),
    ):
        if not isinstance(value, str):
            raise ValueError(f"{path} has no {key}")
    return Manifest(
        name=project["name"],
        module=str(module),
        version=str(project.get("version", "")),
        description=project["description"],
        dependencies=tuple(project.get("dependencies", ())),
        extras={k: tuple(v) for k, v in project.get("optional-dependencies", {}).items()},
        scripts=project.get("scripts", {}),
        entry_points=project.get("entry-points", {}),
    )


def render_pyproject(manifest: Manifest) -> str:
    """The text of its `pyproject.toml`: requirements and groups sorted, no tool tables but flit's.

    Entry points keep their order: a component's name comes before its aliases.
    """
    return render(
        "pyproject.toml",
        name=_string(manifest.name),
        version=_string(manifest.version),
        description=_string(manifest.description),
        dependencies=array(manifest.dependencies),
        tables="".join(_tables(manifest)),
        module=_string(manifest.module),
    )


def rewritten(path: Path, version: str) -> str:
    """A `pyproject.toml` in the canonical form, where licence and Python are this repository's.

    Args:
        path: the file.
        version: of the repository. The distribution gets it, and its requirements of others of the
            repository get the minor version as their lower bound.

    Raises:
        ValueError: for keys that this form has no place for; and as `read_manifest`.
        OSError: if it cannot be read.
    """
    text = render_pyproject(_released(read_manifest(path), version))
    found, kept = tomllib.loads(path.read_text(encoding="utf-8")), tomllib.loads(text)
    if lost := sorted(_keys(found) - _keys(kept)):
        raise ValueError(
            f"{path} has {', '.join(lost)}, which distributions of this repository do not have: "
            "its canonical form would lose them. Remove them, or let Manifest hold them."
        )
    return text


def _released(manifest: Manifest, version: str) -> Manifest:
    """The manifest of a distribution in a release of the whole repository."""

    def bounded(requirements: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(in_step(one, minor(version)) for one in requirements)

    return attrs.evolve(
        manifest,
        version=version,
        dependencies=bounded(manifest.dependencies),
        extras={extra: bounded(needs) for extra, needs in manifest.extras.items()},
    )


def _keys(data: Mapping[str, Any]) -> set[str]:
    """The keys of a `pyproject.toml`, two levels deep: `project.name`, `tool.flit`."""
    return {
        f"{table}.{key}"
        for table, keys in data.items()
        for key, value in keys.items()
        if value not in ([], {})
    }


def array(items: tuple[str, ...]) -> str:
    """A TOML array of strings, sorted, one a line."""
    if not items:
        return "[]"
    return "[\n" + "".join(f"    {_string(item)},\n" for item in sorted(items)) + "]"


def _tables(manifest: Manifest) -> list[str]:
    tables = []
    if manifest.extras:
        lines = [f"{_key(k)} = {array(v)}\n" for k, v in sorted(manifest.extras.items())]
        tables.append("\n[project.optional-dependencies]\n" + "".join(lines))
    if manifest.scripts:
        tables.append("\n[project.scripts]\n" + _assignments(manifest.scripts))
    for group, points in sorted(manifest.entry_points.items()):
        tables.append(f"\n[project.entry-points.{_key(group)}]\n" + _assignments(points))
    return tables


def _assignments(values: Mapping[str, str]) -> str:
    return "".join(f"{_key(key)} = {_string(value)}\n" for key, value in values.items())


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else _string(key)


def _string(text: str) -> str:
    """A TOML basic string; JSON's escapes are among TOML's."""
    return json.dumps(text, ensure_ascii=False)
