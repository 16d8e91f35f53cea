"""`rlk plugins list`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import click

from rlk.component import Component
from rlk.errors import BrokenPlugin, UnknownName
from rlk.registry.entry import Entry
from rlk.registry.kernel import default_kernel
from rlk.registry.registry import clash
from rlk_cli import diagnose


@click.command("list")
@click.option("--kind", help="One kind: algorithms, storages, ….")
@click.option("--reports", help="Only what reports this (td_error).")
@click.option(
    "--action-space", "action_spaces", help="Only what serves this space (Box, Discrete, …)."
)
@click.option(
    "--observation-space", "observation_spaces", help="Only what takes it (Box, Image, …)."
)
@click.option("--collects", help="Only what is on-policy, off-policy or offline.")
@click.option("--recurrent", is_flag=True, help="Only what is recurrent, or can train what is.")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def list_plugins(kind: str | None, as_json: bool, **wanted: Any) -> None:
    """Everything that is installed, by kind; what is broken in red with its cause."""
    rows = list(_rows(kind, {key: value for key, value in wanted.items() if value}))
    if as_json:
        return click.echo(json.dumps(rows, indent=2))
    width = max(shutil.get_terminal_size((100, 24)).columns, 60)
    for heading, members in groupby(rows, lambda row: row["kind"]):
        click.secho(heading, bold=True)
        for row in members:
            line = f"  {row['name']:<20} {row['dist'] + ' ' + row['version']:<30} "
            if row["problem"]:
                click.secho(f"{line}broken: {row['problem']}", fg="red")
            else:
                click.echo((line + row["summary"])[:width])
        click.echo()


def _rows(kind: str | None, wanted: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What `--json` prints of every component that has what is wanted, or is broken."""
    registries = default_kernel().registries
    kinds, clashes = [registry.kind for registry in registries], diagnose.clashes(registries)
    if kind is not None and kind not in kinds:
        raise UnknownName("kind", kind, kinds)
    for entry in (e for registry in registries for e in registry if kind in (None, e.kind)):
        if _is_alias(entry):
            continue
        problem = diagnose.problem(entry)
        component = None if problem else entry.component()
        if len({other.dist for other in clashes.get(entry.name, ())}) > 1:
            problem = str(clash(entry.name, clashes[entry.name]))
        if component is None or problem or all(_fits(component, *one) for one in wanted.items()):
            row = {key: getattr(entry, key) for key in ("kind", "name", "dist", "version")}
            about = (component.summary, component.autostart) if component else ("", "never")
            yield row | {"summary": about[0], "active": about[1], "problem": problem}


def _is_alias(entry: Entry) -> bool:
    """Whether it is another name of a component that is listed by its own."""
    try:
        return entry.component().name != entry.name
    except BrokenPlugin:
        return False


def _fits(component: Component, field: str, value: Any) -> bool:
    """Whether a field is what is wanted, or holds it."""
    found = getattr(component, field)
    return value in found if isinstance(found, tuple) else found in (value, "both")
