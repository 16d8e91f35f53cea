"""`python -m rlk_scaffold.docs [--check] [--root FOLDER]`: the generated tables of READMEs.

Every README.md below the folder may have `<!-- settings: NAME -->` … `<!-- /settings -->`, which
holds the settings of that component. The README of this repository also has `<!-- components -->` …
`<!-- /components -->`, which lists what its distributions register. Everything is read off the
components as they are installed.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from rlk.errors import RlkError
from rlk.registry.kernel import default_kernel
from rlk.registry.registries import Registries
from rlk_scaffold import markers, tree
from rlk_scaffold.components_table import components_table
from rlk_scaffold.manifest import read_manifest
from rlk_scaffold.settings_table import settings_table


def drift(root: Path) -> dict[Path, str]:
    """README.md -> its new text, for every README whose text is out of date.

    Raises:
        ValueError: for markers that do not match, or that name a component without settings.
    """
    expected = {path: _expected(root, path) for path in _readmes(root)}
    return {path: text for path, text in expected.items() if path.read_text("utf-8") != text}


def _readmes(root: Path) -> Iterator[Path]:
    """Every README.md below a folder, except in folders whose name begins with a dot."""
    for path in sorted(root.rglob("README.md")):
        if not any(part.startswith(".") for part in path.relative_to(root).parts):
            yield path


def _expected(root: Path, path: Path) -> str:
    registries = default_kernel().registries
    try:
        text = path.read_text("utf-8")
        text = markers.filled(text, "settings", partial(_settings, registries))
        return markers.filled(text, "components", lambda _: _components(root, registries))
    except (ValueError, RlkError) as error:
        raise ValueError(f"{path.relative_to(root)}: {error}") from error


def _settings(registries: Registries, name: str) -> str:
    return settings_table(registries.find(name).component())


def _components(root: Path, registries: Registries) -> str:
    folders = {
        read_manifest(folder / "pyproject.toml").name: folder.relative_to(root).as_posix()
        for folder in tree.distributions(root)
    }
    return components_table(registries.every_entry(), folders)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 1 if a table is out of date (with `--check`) or cannot be written."""
    parser = argparse.ArgumentParser(prog="python -m rlk_scaffold.docs", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; say what differs")
    parser.add_argument(
        "--root", type=Path, help="a plugin's folder; default: the repository around here"
    )
    options = parser.parse_args(arguments)
    try:
        root = options.root or tree.find_root(Path.cwd())
    except FileNotFoundError as error:
        parser.error(str(error))
    if not root.is_dir():
        parser.error(f"--root {root} is not a folder. Name the one that holds your README.md.")
    try:
        differing = drift(root)
    except ValueError as error:
        print(error)
        return 1
    for path, text in differing.items():
        if not options.check:
            path.write_text(text, encoding="utf-8")
        print(f"{'out of date:' if options.check else 'wrote'} {path.relative_to(root).as_posix()}")
    if options.check and differing:
        print(
            "run: python -m rlk_scaffold.docs" + (f" --root {options.root}" if options.root else "")
        )
    return 1 if options.check and differing else 0


if __name__ == "__main__":
    raise SystemExit(main())
