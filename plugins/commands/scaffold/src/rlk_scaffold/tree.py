"""The repository's own distributions: where they are, and what lists them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from rlk_scaffold.manifest import Manifest, array, read_manifest, rewritten

_ROOT_DEPENDENCIES = re.compile(r"^dependencies = \[.*?\]$", re.MULTILINE | re.DOTALL)
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

    The licence, a copy of the root's in every distribution, gets into its wheel and its sdist.
    """
    folders = distributions(root)
    manifests = {folder: read_manifest(folder / "pyproject.toml") for folder in folders}
    lines = [f"-e ./{folder.relative_to(root).as_posix()}\n" for folder in folders]
    names = tuple(f"{manifest.name}>=0.1" for manifest in manifests.values())
    root_text = (root / "pyproject.toml").read_text(encoding="utf-8")
    licence = (root / "LICENSE").read_text(encoding="utf-8")
    return {
        root / "requirements.txt": _REQUIREMENTS + "".join(lines),
        root / "requirements-lowest.txt": _LOWEST + lowest(manifests.values()),
        root / "pyproject.toml": _with_dependencies(root_text, names),
        **{folder / "pyproject.toml": rewritten(folder / "pyproject.toml") for folder in folders},
        **{folder / "LICENSE": licence for folder in folders},
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


def _with_dependencies(text: str, names: tuple[str, ...]) -> str:
    """The root's pyproject with these dependencies; everything else is unchanged."""
    if len(_ROOT_DEPENDENCIES.findall(text)) != 1:
        raise ValueError("the root's pyproject.toml must have one 'dependencies = [...]'")
    return _ROOT_DEPENDENCIES.sub(lambda _: f"dependencies = {array(names)}", text)
