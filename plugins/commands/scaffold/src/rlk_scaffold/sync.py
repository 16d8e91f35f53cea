"""`python -m rlk_scaffold.sync [--check]`: what lists this repository's distributions.

Writes requirements.txt and requirements-lowest.txt, the dependencies in the root's pyproject.toml,
and every distribution's pyproject.toml in canonical form and its copy of the licence. The version
in the root's pyproject.toml gets into all others, and into the bounds between them. Then it prints
which distribution breaks which rule. With `--check`, it writes nothing.
"""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Sequence
from pathlib import Path

from rlk_scaffold import rules, tree


def drift(root: Path) -> list[str]:
    """The differences between the generated files and their required contents, as unified diffs."""
    differences = []
    for path, text in tree.expected(root).items():
        found = path.read_text(encoding="utf-8") if path.is_file() else ""
        if found != text:
            name = path.relative_to(root).as_posix()
            lines = difflib.unified_diff(
                found.splitlines(), text.splitlines(), name, f"{name} (expected)", lineterm=""
            )
            differences.append("\n".join(lines))
    return differences


def write(root: Path) -> list[str]:
    """Write the generated files that differ; returns their paths."""
    written = []
    for path, text in tree.expected(root).items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            written.append(path.relative_to(root).as_posix())
    return written


def broken_rules(root: Path) -> list[str]:
    """The broken rules of the distributions, one line each."""
    folders = tree.distributions(root)
    found = [problem for folder in folders for problem in rules.problems(folder)]
    return found + rules.clashes(folders)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 1 if files differ (with `--check`) or break a rule, 2 if they cannot be read."""
    parser = argparse.ArgumentParser(prog="python -m rlk_scaffold.sync", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; say what differs")
    parser.add_argument("--root", type=Path, help="the repository; default: the one around here")
    options = parser.parse_args(arguments)
    try:
        return _synced(options.root or tree.find_root(Path.cwd()), checks=options.check)
    except (ValueError, FileNotFoundError) as error:
        parser.error(str(error))


def _synced(root: Path, *, checks: bool) -> int:
    differences = drift(root) if checks else []
    for text in differences:
        print(text)
    if not checks:
        for path in write(root):
            print(f"wrote {path}")
    broken = broken_rules(root)
    for problem in broken:
        print(problem)
    count = len(tree.distributions(root))
    print(f"{count} distributions, {len(differences)} files differ, {len(broken)} rules broken")
    return 1 if differences or broken else 0


if __name__ == "__main__":
    raise SystemExit(main())
