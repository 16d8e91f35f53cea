"""The repository's own distributions: where they are, and what lists them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from rlk_scaffold.bounds import in_step, minor
from rlk_scaffold.manifest import Manifest, array, read_manifest, rewritten

_ROOT_VERSION = re.compile(r'^version = "(\d+(?:\.\d+)+)"$', re.MULTILINE)
_ROOT_DEPENDENCIES = re.compile(r"^dependencies = \[.*?\]$", re.MULTILINE | re.DOTALL)
#: A requirement of one of the distributions with a lower bound, in a `pyproject.toml`.
_BOUNDED = re.compile(r'"(rlk-[^">]*>=[^"]*)"')
_REQUIREMENTS = """\
# Every distribution of this repository, editable. Written by: python -m rlk_scaffold.sync
-c constraints.txt
"""
_LOWEST = """\
# The lowest release that is declared of every package, but of torch, which constraints.txt pins.
# Written by: python -m rlk_scaffold.sync
"""


def find_root(start: Path) -> Path:
    """The repository that `start` is in.

    Raises:
        FileNotFoundError: if it is in none.
    """
    for folder in (start.resolve(), *start.resolve().parents):
        if (folder / "kernel" / "pyproject.toml").is_file() and (folder / "plugins").is_dir():
            return folder
    raise FileNotFoundError(
        f"{start} is in no rlk repository (a folder with kernel/ and plugins/). Use --root DIR."
    )


def is_inside(folder: Path) -> bool:
    """Whether a folder, which may not exist yet, is in such a repository."""
    try:
        find_root(folder)
    except FileNotFoundError:
        return False
    return True


def distributions(root: Path) -> list[Path]:
    """The folders of all distributions: the kernel, then the plugins by path."""
    plugins = sorted(path.parent for path in root.glob("plugins/*/*/pyproject.toml"))
    return [root / "kernel", *plugins]


def expected(root: Path) -> dict[Path, str]:
    """The required contents of the generated files: requirements, and each pyproject and licence.

    All distributions have the version of the root, and its licence, which gets into their wheels.

    Raises:
        ValueError: for a file that says something else than it may.
        OSError: if one cannot be read.
    """
    folders = distributions(root)
    manifests = {folder: read_manifest(folder / "pyproject.toml") for folder in folders}
    lines = [f"-e ./{folder.relative_to(root).as_posix()}\n" for folder in folders]
    licence = (root / "LICENSE").read_text(encoding="utf-8")
    return {
        root / "requirements.txt": _REQUIREMENTS + "".join(lines),
        root / "requirements-lowest.txt": _LOWEST + lowest(manifests.values()),
        **_pyprojects(root, manifests),
        **{folder / "LICENSE": licence for folder in folders},
    }


def _pyprojects(root: Path, manifests: Mapping[Path, Manifest]) -> dict[Path, str]:
    """Every pyproject.toml with the version of the root, and bounds that follow from it.

    Of 0.2.1, the root requires `>=0.2.1` of every distribution, so that its upgrade is theirs.
    They require `>=0.2` of each other, and so do the examples.
    """
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    version = _version(text)
    every = tuple(f"{manifest.name}>={version}" for manifest in manifests.values())
    ours = [folder / "pyproject.toml" for folder in manifests]
    examples = sorted(root.glob("examples/*/pyproject.toml"))
    return {
        root / "pyproject.toml": _with_bounds(_with_dependencies(text, every), version),
        **{path: rewritten(path, version) for path in ours},
        **{path: _with_bounds(path.read_text("utf-8"), minor(version)) for path in examples},
    }


def lowest(manifests: Iterable[Manifest]) -> str:
    """`name==version` of their external requirements: the highest of the lower bounds."""
    bounds: dict[str, str] = {}
    for text in [one for manifest in manifests for one in manifest.dependencies]:
        requirement = Requirement(text)
        name = canonicalize_name(requirement.name)
        if name == "torch" or name.startswith("rlk-"):
            continue
        for bound in requirement.specifier:
            if bound.operator == ">=":
                bounds[name] = max(bounds.get(name, "0"), bound.version, key=Version)
    return "".join(f"{name}=={bounds[name]}\n" for name in sorted(bounds))


def _version(text: str) -> str:
    """The version in the root's pyproject."""
    if len(found := _ROOT_VERSION.findall(text)) != 1:
        raise ValueError(
            "the root's pyproject.toml must have one 'version = \"0.2.0\"', numbers with dots"
        )
    return str(found[0])


def _with_dependencies(text: str, names: tuple[str, ...]) -> str:
    """The root's pyproject with these dependencies; everything else is unchanged."""
    if len(_ROOT_DEPENDENCIES.findall(text)) != 1:
        raise ValueError("the root's pyproject.toml must have one 'dependencies = [...]'")
    return _ROOT_DEPENDENCIES.sub(lambda _: f"dependencies = {array(names)}", text)


def _with_bounds(text: str, version: str) -> str:
    """A pyproject whose requirements of distributions of this repository have this lower bound."""
    return _BOUNDED.sub(lambda found: f'"{in_step(found[1], version)}"', text)
