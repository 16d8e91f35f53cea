"""`python -m rlk_scaffold.docs [--check]`: the table of components in the README.

It stands between `<!-- components -->` and `<!-- /components -->` and lists what the distributions
of this repository register, as they are installed.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

from rlk.registry.entry import Entry
from rlk.registry.kernel import Kernel
from rlk.registry.kinds import singular
from rlk_scaffold import tree
from rlk_scaffold.manifest import read_manifest

BEGIN, END = "<!-- components -->", "<!-- /components -->"


def table(entries: Iterable[Entry], dists: dict[str, str]) -> str:
    """A Markdown table, in the order of the entries; an alias stands beside the name it is one for.

    Args:
        entries: as registries have them.
        dists: distribution -> its folder, for those that are listed.

    Raises:
        BrokenPlugin: if a component cannot be loaded.
    """
    rows: dict[tuple[str, str], list[str]] = {}
    aliases: dict[tuple[str, str], list[str]] = {}
    for entry in entries:
        if entry.dist not in dists:
            continue
        component = entry.component()
        key = (entry.kind, component.name)
        if entry.name != component.name:
            aliases.setdefault(key, []).append(entry.name)
            continue
        where = f"[{entry.dist}]({dists[entry.dist]})"
        rows[key] = [entry.name, singular(entry.kind), where, component.summary]
    lines = ["| name | kind | distribution | what it is |", "|---|---|---|---|"]
    for key, (name, kind, where, summary) in rows.items():
        also = "".join(f", `{alias}`" for alias in sorted(aliases.get(key, ())))
        text = summary.strip().rstrip(".").replace("|", "\\|")
        lines.append(f"| `{name}`{also} | {kind} | {where} | {text} |")
    return "\n".join(lines)


def filled(text: str, rows: str) -> str:
    """The text with what stands between the markers replaced.

    Raises:
        ValueError: if the markers do not stand there once each, in their order.
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end or BEGIN in after or END in after:
        raise ValueError(f"the README must have {BEGIN} and {END} once each, in that order")
    return f"{before}{BEGIN}\n\n{rows}\n\n{END}{after}"


def expected(root: Path) -> str:
    """The README with the table as it must be."""
    folders = {
        read_manifest(folder / "pyproject.toml").name: folder.relative_to(root).as_posix()
        for folder in tree.distributions(root)
    }
    entries = [entry for registry in Kernel().registries for entry in registry]
    return filled((root / "README.md").read_text(encoding="utf-8"), table(entries, folders))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 1 if the table is out of date (with `--check`)."""
    parser = argparse.ArgumentParser(prog="python -m rlk_scaffold.docs", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; say if it differs")
    parser.add_argument("--root", type=Path, help="the repository; default: the one around here")
    said = parser.parse_args(arguments)
    root = said.root or tree.find_root(Path.cwd())
    text = expected(root)
    if (root / "README.md").read_text(encoding="utf-8") == text:
        print("README.md is up to date")
        return 0
    if said.check:
        print("the table in README.md is out of date; run: python -m rlk_scaffold.docs")
        return 1
    (root / "README.md").write_text(text, encoding="utf-8")
    print("wrote README.md")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
