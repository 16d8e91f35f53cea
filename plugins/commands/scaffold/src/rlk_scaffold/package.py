"""A new plugin package: its name checked, its files rendered, written to an empty folder."""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import keyword
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

import attrs

from rlk.errors import PlanError, RlkError
from rlk.registry.kinds import singular, why_unusable
from rlk_scaffold import templates
from rlk_scaffold.bounds import as_installed
from rlk_scaffold.kinds import Example
from rlk_scaffold.manifest import Manifest, import_name, render_pyproject

if TYPE_CHECKING:
    from rlk.registry.registries import Registries

_NAME = re.compile(r"[A-Za-z]([A-Za-z0-9._-]*[A-Za-z0-9])?")

_PROJECT = "pyproject.toml"
#: The templates that packages of every kind have.
_EVERY_KIND = templates.HERE / "every-kind"
#: The part of the README about the example, in its folder of templates.
_ABOUT = "about.md"
#: The record of a component whose example names its factory; other examples bring their own.
_COMPONENT = "component.py"
#: What the README says about its table of settings, if there is one.
_RENEW = """

When a setting changes, `python -m rlk_scaffold.docs --root .` writes the table above
anew, from the help texts in `config.py`."""


@attrs.frozen(kw_only=True)
class Names:
    """The names of a new package.

    Attributes:
        component: what users type (`recent-first`).
        dist: the distribution (`rlk-recent-first`).
        given_class: the package's main class, if it was given; "" derives it from the component.
    """

    component: str
    dist: str
    given_class: str = ""

    @property
    def module(self) -> str:
        """The import name (`rlk_recent_first`)."""
        return import_name(self.dist)

    @property
    def class_name(self) -> str:
        """The name of the package's main class (`RecentFirst`), if its example leaves it free."""
        return self.given_class or "".join(
            part[:1].upper() + part[1:] for part in re.split(r"[._-]+", self.component)
        )


def names(component: str, dist: str | None = None, given_class: str = "") -> Names:
    """The names of a new package; the distribution is `rlk-<component>` unless it is given.

    Raises:
        PlanError: if one of them cannot be the name of a component, a distribution, a module or a
            class.
    """
    made = Names(component=component, dist=dist or f"rlk-{component}", given_class=given_class)
    for what, name in (("component", made.component), ("distribution", made.dist)):
        if not _NAME.fullmatch(name):
            raise PlanError(
                f"{name!r} cannot be the name of a {what}: letters, digits, '-', '_' and '.', "
                "beginning with a letter and ending with a letter or digit. "
                "For example: rlk plugins new recent-first --kind storage"
            )
    if not made.class_name.isidentifier():
        raise PlanError(
            f"{made.class_name!r} cannot be the name of a class: letters, digits and '_', with a "
            "letter first. For example: rlk plugins new qrdqn --kind algorithm --class QRDQN"
        )
    if keyword.iskeyword(made.module) or keyword.iskeyword(made.class_name):
        raise PlanError(
            f"{made.module} or {made.class_name} is a keyword of Python. Take another name."
        )
    return made


def check_free(made: Names, kind: str, registries: Registries, group: str = "") -> None:
    """Raise PlanError if a component of that kind cannot have the name, or another one has it.

    For a name that an installed package has, the error names that package.

    Args:
        made: the names.
        kind: of the component; for a command, conflicts with groups of commands are errors too.
        registries: of what is installed.
        group: the entry-point group of the kind, where it has one of its own.
    """
    if (why := why_unusable(made.component, kind)) is not None:
        raise PlanError(f"{singular(kind)} {made.component!r} cannot be written: {why}.")
    if kind == "commands":
        _check_reached(made.component, registries)
    for entry in registries.every_entry():
        if entry.name == made.component:
            raise PlanError(
                f"the name {made.component!r} is taken by the {singular(entry.kind)} of "
                f"{entry.owner}; names are unique across kinds. Take another."
            )
    for point in importlib.metadata.entry_points(group=group, name=made.component):
        owner = point.dist.name if point.dist else point.value
        raise PlanError(
            f"the name {made.component!r} is taken by the {singular(kind)} of {owner}. Take "
            "another."
        )
    try:
        version = importlib.metadata.version(made.dist)
    except importlib.metadata.PackageNotFoundError:
        pass
    else:
        raise PlanError(
            f"a distribution {made.dist!r} is installed already ({made.dist} {version}). "
            "Take another name, or give this one by --dist."
        )
    if importlib.util.find_spec(made.module) is not None:
        raise PlanError(
            f"a module {made.module!r} is installed already. Take another name, or use --dist."
        )


def _check_reached(name: str, registries: Registries) -> None:
    """Raise PlanError for a command that hides an installed one, or that is hidden by one."""
    for other in registries.commands:
        if f"{other.name}.".startswith(f"{name}.") or f"{name}.".startswith(f"{other.name}."):
            raise PlanError(
                f"the command `rlk {name.replace('.', ' ')}` cannot exist beside `rlk "
                f"{other.name.replace('.', ' ')}` of {other.owner}. Take another name."
            )


def render_package(made: Names, example: Example) -> dict[str, str]:
    """The files of a package: path -> text."""
    values = _values(made, example)
    values["about"] = templates.render(_ABOUT, example.folder, **values).strip()
    values["renew"] = _RENEW if "<!-- settings: " in values["about"] else ""
    values["tried"] = Template(example.tried).substitute(values)
    values["factory"] = Template(example.factory).substitute(values)
    has_settings = "config.py" in templates.names(example.folder)
    config = f"{values['cls']}Config"
    values["imports"] = f"\nfrom {made.module}.config import {config}\n" if has_settings else ""
    values["declared"] = (f"    config={config},\n" if has_settings else "") + example.declared
    values["try_it"] = "\n".join(f"$ {line}" for line in try_lines(made, example))
    point = {made.component: Template(example.point).substitute(values)}
    manifest = Manifest(
        name=made.dist,
        module=made.module,
        description=example.summary,
        dependencies=tuple(map(as_installed, (*example.dependencies, "rlk-kernel"))),
        extras={"test": ("pytest>=8", *map(as_installed, (_dist(example.suites), *example.test)))},
        entry_points={example.group: point},
    )
    files = {_PROJECT: render_pyproject(manifest), f"src/{made.module}/py.typed": ""}
    for path, folder in _templates(example):
        if path != _ABOUT:
            files[_place(path, made)] = templates.render(path, folder, **values)
    return dict(sorted(files.items()))


def _templates(example: Example) -> Iterator[tuple[str, Traversable]]:
    """The path of every template of a package, and the folder that it is in."""
    if example.factory:
        yield _COMPONENT, templates.HERE
    for folder in (_EVERY_KIND, example.folder):
        yield from ((path, folder) for path in templates.names(folder))


def with_tools(files: Mapping[str, str]) -> dict[str, str]:
    """The files, with settings of pytest, ruff and mypy in `pyproject.toml`.

    They are for a package by itself; in this repository, the root has them for all.
    """
    return {**files, _PROJECT: files[_PROJECT] + templates.render("tools.toml")}


def try_lines(made: Names, example: Example) -> list[str]:
    """The commands that run it."""
    values = _values(made, example)
    return [Template(line).substitute(values) for line in example.try_it]


def class_name(made: Names, example: Example) -> str:
    """The name of its main class; with the kind (`PatchExtension`) if the example has that word.

    A class `Patch` would hide the class of that name that the example imports.
    """
    texts = (templates.read(*place) for place in _templates(example))
    words = {word for text in texts for word in re.findall(r"\w+", text)}
    if made.class_name not in words:
        return made.class_name
    return made.class_name + "".join(map(str.capitalize, singular(example.kind).split("-")))


def _values(made: Names, example: Example) -> dict[str, str]:
    """The values for the placeholders of templates."""
    return {
        "name": made.component,
        "words": made.component.replace(".", " "),
        "dist": made.dist,
        "module": made.module,
        "cls": class_name(made, example),
        "kind": singular(example.kind),
        "suites": example.suites,
        "contract": example.contract,
        "summary": example.summary,
    }


def write_package(folder: Path, files: Mapping[str, str]) -> None:
    """Write the files.

    Raises:
        PlanError: if the folder is not empty.
        RlkError: if it cannot be written, as on a full disk; nothing of it is left then.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise PlanError(f"{folder} exists and is not an empty folder. Use another with --out DIR.")
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        for path, text in files.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
    except OSError as error:
        _remove([missing[-1]] if missing else list(folder.iterdir()))
        raise RlkError(f"cannot write {folder}: {error.strerror}.") from error


def _remove(written: Iterable[Path]) -> None:
    """Remove files and whole folders, as far as the system lets it."""
    for path in written:
        with contextlib.suppress(OSError):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _dist(module: str) -> str:
    """The distribution of a module of this project: `rlk_testing` -> `rlk-testing`."""
    return module.partition(".")[0].replace("_", "-")


def _place(name: str, made: Names) -> str:
    """The path for a template's file: tests beside the sources, the README at the top."""
    if name.startswith("test_"):
        return f"tests/{name}"
    return name if name.endswith(".md") else f"src/{made.module}/{name}"
