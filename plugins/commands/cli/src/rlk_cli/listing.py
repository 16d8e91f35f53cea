"""`rlk plugins list`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import click

from rlk.errors import BrokenPlugin, UnknownName
from rlk.registry.entry import Entry
from rlk.registry.kernel import default_kernel
from rlk.registry.registries import Registries
from rlk.registry.registry import clash
from rlk_cli import kept_rows
from rlk_cli.columns import columns, terminal_width
from rlk_cli.completion import kinds
from rlk_cli.kept_rows import Row
from rlk_cli.kinds import kind_of

#: The fields that `--json` prints for every component.
PRINTED = ("kind", "name", "dist", "version", "summary", "active", "problem")
#: The declared fields by which rows can be selected.
DECLARED = (
    "reports",
    "action_spaces",
    "observation_spaces",
    "collects",
    "recurrent",
    "deterministic",
)


@click.command("list")
@click.option("--kind", shell_complete=kinds, help="Only one kind: algorithms, storages, ….")
@click.option("--reports", help="Only algorithms whose updates report this (td_error).")
@click.option(
    "--action-space",
    "action_spaces",
    help="Only components for this action space (Box, Discrete, …).",
)
@click.option(
    "--observation-space",
    "observation_spaces",
    help="Only components for this observation space (Box, Image, …).",
)
@click.option("--collects", help="Only components that are on-policy, off-policy, both or offline.")
@click.option(
    "--recurrent", is_flag=True, help="Only recurrent policies, and algorithms that train them."
)
@click.option(
    "--deterministic",
    is_flag=True,
    help="Only algorithms that act by policy and observation alone, which noise may perturb.",
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list, for programs.")
def list_plugins(kind: str | None, as_json: bool, **wanted: Any) -> None:
    """List all installed components by kind; broken ones are red, with the reason."""
    kind = kind_of(kind, default_kernel().registries) if kind else None
    rows = _rows()
    for field, value in wanted.items():
        _check_declared(field, value, rows)
    rows = [row for row in rows if kind in (None, row["kind"])]
    for field, value in wanted.items():
        rows = [row for row in rows if not value or row["problem"] or _fits(row[field], value)]
    if as_json:
        return click.echo(
            json.dumps([{key: row[key] for key in PRINTED} for row in rows], indent=2)
        )
    if not rows:
        click.echo("no component matches all of these options", err=True)
    width = terminal_width()
    at = 4 + max((len(row["name"]) for row in rows), default=0)
    for heading, members in groupby(rows, lambda row: str(row["kind"])):
        click.secho(heading.replace("_", "-"), bold=True)
        for row in members:
            problem, owner = row["problem"], f"{row['dist']} {row['version']}".strip()
            text = f"broken: {problem}" if problem else row["summary"].rstrip(".")
            line = columns(f"  {row['name']}", at, f"{text} ({owner})", width)
            click.secho(line, fg="red" if problem else None)
        click.echo()


def _rows() -> list[Row]:
    """Every component, from the kept rows or made anew."""
    registries = default_kernel().registries
    rows = kept_rows.load(registries)
    if rows is None:
        rows = list(_made(registries))
        kept_rows.save(registries, rows)
    return rows


def _made(registries: Registries) -> Iterator[Row]:
    """Every component, by kind and name; without names that stand for another component."""
    from rlk_cli import diagnose  # only here, because it imports a parser of Python

    clashes = diagnose.clashes(registries)
    for entry in registries.every_entry():
        if _is_alias(entry):
            continue
        problem = diagnose.problem(entry)
        if len({other.dist for other in clashes.get(entry.name, ())}) > 1:
            problem = str(clash(entry.name, clashes[entry.name]))
        row = {key: getattr(entry, key) for key in ("kind", "name", "dist", "version")}
        yield row | _declared(entry) | {"problem": problem}


def _is_alias(entry: Entry) -> bool:
    """Whether it is another name of a component that is listed under its own name."""
    try:
        return entry.component().name != entry.name
    except BrokenPlugin:
        return False


def _declared(entry: Entry) -> Row:
    """A component's declarations, as JSON values; nothing if it cannot be loaded."""
    try:
        component = entry.component()
    except BrokenPlugin:
        return {"summary": "", "active": "never", "factory": None, **dict.fromkeys(DECLARED)}
    factory = component.factory if isinstance(component.factory, str) else None
    about = {"summary": component.summary, "active": component.autostart, "factory": factory}
    return about | {field: getattr(component, field) for field in DECLARED}


def _check_declared(field: str, value: Any, rows: list[Row]) -> None:
    """Refuse a word that no component declares in this field, which is probably a misspelt one."""
    if not isinstance(value, str):
        return
    known = {one for row in rows for one in _as_words(row[field])}
    if value not in known:
        option = next(param.opts[0] for param in list_plugins.params if param.name == field)
        raise UnknownName(f"value of {option}:", value, known)


def _as_words(declared: Any) -> list[str]:
    """The words in a field: several, one or none."""
    return list(declared) if isinstance(declared, (list, tuple)) else [declared] * bool(declared)


def _fits(declared: Any, value: Any) -> bool:
    """Whether a field equals the wanted value, or contains it."""
    if isinstance(declared, (list, tuple)):
        return value in declared
    return bool(declared == value)
