"""`rlk plugins`: what is installed, what it takes, and what is wrong with it."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import click

from rlk.cli.group import LazyGroup
from rlk.errors import RlkError, UnknownName
from rlk.registry import Entry, clash, singular

if TYPE_CHECKING:
    from rlk.component import Component


@click.group(
    cls=LazyGroup,
    prefix="plugins.",
    own={
        "list": ("rlk.cli.plugins:list_plugins", "Everything that is installed, by kind."),
        "show": ("rlk.cli.plugins:show", "One component: what it does, needs and takes."),
        "check": ("rlk.cli.plugins:check", "Look for faults, in all or in one."),
    },
)
def plugins() -> None:
    """List, show and check what is installed."""


@click.command("list")
@click.option("--kind", help="One kind: algorithms, storages, ….")
@click.option("--reports", help="Only what reports this (td_error).")
@click.option("--action-space", help="Only what serves this space (Box, Discrete, …).")
@click.option(
    "--observation-space", help="Only what takes these observations (Box, Image, Dict, …)."
)
@click.option("--collects", help="Only what is on-policy, off-policy or offline.")
@click.option("--recurrent", is_flag=True, help="Only what is recurrent, or can train what is.")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@click.option("--debug", is_flag=True, help="Show tracebacks.")
def list_plugins(kind: str | None, as_json: bool, debug: bool, **wanted: Any) -> None:
    """Everything that is installed, by kind; what is broken in red with its cause."""
    rows = [row for row in _rows(kind) if row["problem"] or _fits(row["component"], wanted)]
    if as_json:
        click.echo(
            json.dumps(
                [{k: v for k, v in row.items() if k != "component"} for row in rows], indent=2
            )
        )
        return
    heading, width = "", shutil.get_terminal_size((100, 24)).columns
    for row in rows:
        if row["kind"] != heading:
            heading = row["kind"]
            click.secho(f"\n{heading}" if row is not rows[0] else heading, bold=True)
        text = f"broken: {row['problem']}" if row["problem"] else row["summary"]
        line = f"  {row['name']:<20} {row['dist'] + ' ' + row['version']:<30} {text}"
        shown = line if row["problem"] else line[: max(width, 60)]
        click.echo(click.style(shown, fg="red") if row["problem"] else shown)


def _rows(kind: str | None) -> list[dict[str, Any]]:
    from rlk import diagnose
    from rlk.kernel import default_kernel

    registries = default_kernel().registries
    kinds = [registry.kind for registry in registries]
    if kind is not None and kind not in kinds:
        raise UnknownName("kind", kind, kinds)
    clashes, rows = registries.clashes(), []
    for registry in registries:
        for entry in registry:
            if kind not in (None, entry.kind):
                continue
            problem = diagnose.problem(entry)
            component = None if problem else entry.component()
            if component is not None and component.name != entry.name:
                continue  # an alias
            if entry.name in clashes and len({e.dist for e in clashes[entry.name]}) > 1:
                problem = str(clash(entry.name, clashes[entry.name]))
            rows.append(_row(entry, component, problem))
    return rows


def _row(entry: Entry, component: Component | None, problem: str | None) -> dict[str, Any]:
    return {
        "kind": entry.kind,
        "name": entry.name,
        "dist": entry.dist,
        "version": entry.version,
        "summary": component.summary if component else "",
        "active": component.autostart if component else "never",
        "problem": problem,
        "component": component,
    }


def _fits(component: Component, wanted: dict[str, Any]) -> bool:
    action, observation = wanted["action_space"], wanted["observation_space"]
    return (
        (not wanted["reports"] or wanted["reports"] in component.reports)
        and (not action or action in component.action_spaces)
        and (not observation or observation in component.observation_spaces)
        and (not wanted["collects"] or component.collects in (wanted["collects"], "both"))
        and (not wanted["recurrent"] or component.recurrent)
    )


@click.command()
@click.argument("name")
@click.option("--debug", is_flag=True, help="Show tracebacks.")
def show(name: str, debug: bool) -> None:
    """One component: what it does, what it needs, and every setting with its default."""
    from rlk.kernel import default_kernel

    entry = default_kernel().registries.find(name)
    component = entry.component()
    click.secho(f"{name}", bold=True, nl=False)
    click.echo(f"  {singular(entry.kind)} of {entry.owner}\n{component.summary}\n")
    for label in (
        "collects",
        "action_spaces",
        "observation_spaces",
        "reports",
        "needs",
        "stages",
        "recurrent",
    ):
        value = getattr(component, label)
        if value:
            text = ", ".join(value) if isinstance(value, tuple) else str(value)
            click.echo(f"{label.replace('_', ' '):<20}{text}")
    for slot, wish in component.defaults.items():
        text = (
            ", ".join(f"{v} for {k}" for k, v in wish.items()) if isinstance(wish, dict) else wish
        )
        click.echo(f"{'default ' + slot:<30}{text}")
    _show_settings(entry, component)


def _show_settings(entry: Entry, component: Component) -> None:
    from rlk import settings

    if component.config is None:
        click.echo("\nno settings")
        return
    prefix = "" if entry.kind == "algorithms" else f"{component.name}."
    click.secho(f"\nsettings (--set {prefix}KEY=VALUE)", bold=True)
    for name, kind, default, help_text in settings.fields_of(component.config):
        click.echo(f"  {name:<30} {default:<12} {kind}")
        click.echo(f"  {'':<30} {help_text}")
        if name in component.feeds:
            click.echo(f"  {'':<30} is {component.feeds[name]}")


@click.command()
@click.argument("names", nargs=-1)
@click.option("--debug", is_flag=True, help="Show tracebacks.")
def check(names: tuple[str, ...], debug: bool) -> None:
    """Import every implementation (of NAMES, or of all) and say what is wrong."""
    from rlk.kernel import default_kernel

    registries = default_kernel().registries
    entries = (
        [registries.find(name) for name in names] if names else [e for r in registries for e in r]
    )
    faults = 0
    for entry in entries:
        found = _fault(entry)
        faults += found is not None
        if found or names:
            click.secho(f"{entry.title()}: {found or 'sound'}", fg="red" if found else "green")
    for name, found_entries in registries.clashes().items():
        if not names or name in names:
            faults += 1
            click.secho(str(clash(name, found_entries)), fg="red")
    click.echo(f"{len(entries)} checked, {faults} broken")
    if faults:
        raise RlkError("some plugins are broken; uninstall them or tell their authors.")


def _fault(entry: Entry) -> str | None:
    from rlk import diagnose

    found = diagnose.problem(entry)
    if found:
        return found
    try:
        entry.component().load()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None
