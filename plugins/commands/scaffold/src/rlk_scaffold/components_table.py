"""The table of components in the repository's README: name, kind, distribution, summary."""

from __future__ import annotations

from collections.abc import Iterable

from rlk.registry.entry import Entry
from rlk.registry.kinds import singular


def components_table(entries: Iterable[Entry], folders: dict[str, str]) -> str:
    """A Markdown table in the order of the entries; aliases are shown beside the component's name.

    Args:
        entries: from the registries.
        folders: distribution -> its folder, for those that are listed.

    Raises:
        BrokenPlugin: if a component cannot be loaded.
    """
    rows: dict[tuple[str, str], list[str]] = {}
    aliases: dict[tuple[str, str], list[str]] = {}
    for entry in entries:
        if entry.dist not in folders:
            continue
        component = entry.component()
        key = (entry.kind, component.name)
        if entry.name != component.name:
            aliases.setdefault(key, []).append(entry.name)
            continue
        where = f"[{entry.dist}]({folders[entry.dist]})"
        rows[key] = [entry.name, singular(entry.kind), where, component.summary]
    lines = ["| name | kind | distribution | what it is |", "|---|---|---|---|"]
    for key, (name, kind, where, summary) in rows.items():
        also = "".join(f", `{alias}`" for alias in sorted(aliases.get(key, ())))
        text = summary.strip().rstrip(".").replace("|", "\\|")
        lines.append(f"| `{name}`{also} | {kind} | {where} | {text} |")
    return "\n".join(lines)
