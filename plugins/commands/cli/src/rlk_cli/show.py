"""`rlk plugins show`: one component on a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import click

from rlk.component import Component
from rlk.registry.external import find_entry
from rlk.registry.kernel import default_kernel
from rlk.registry.kinds import singular
from rlk_cli.columns import columns, terminal_width
from rlk_cli.completion import names_of
from rlk_cli.fields import fields_of

#: Where the right column begins at least.
LABEL = 30
DECLARED = (
    "collects",
    "action_spaces",
    "observation_spaces",
    "reports",
    "needs",
    "stages",
    "steps_nothing",
    "recurrent",
    "deterministic",
    "only_trains",
    "keeps_returns",
)


@click.command()
@click.argument("name", shell_complete=names_of())
def show(name: str) -> None:
    """Show one component: what it does, what it needs, and every setting with its default.

    NAME may also be ./file.py:Class or package.module:Class, as for --plugin.
    """
    entry = find_entry(name, None, default_kernel().registries)
    component = entry.component()
    width = terminal_width()
    click.secho(name, bold=True, nl=False)
    click.echo(f"  {singular(entry.kind)} of {entry.owner}")
    if component.summary:
        click.echo(columns("", 0, component.summary, width))
    rows = list(declared(component))
    at = _beside(label for label, _ in rows)
    if rows:
        click.echo("\n" + "\n".join(columns(label, at, text, width) for label, text in rows))
    if component.config is None:
        options = f"options: rlk {component.name.replace('.', ' ')} --help"
        click.echo("\n" + (options if entry.kind == "commands" else "no settings"))
        return
    prefix = "" if entry.kind in ("algorithms", "recipes") else f"{component.name}."
    click.secho(f"\nsettings (--set {prefix}KEY=VALUE)", bold=True)
    fields = list(fields_of(component.config, component.own_defaults))
    at = _beside(f"  {field.name}" for field in fields)
    for field in fields:
        click.echo(columns(f"  {field.name}", at, f"{field.default}   {field.type}", width))
        for line in filter(None, (field.help, *elsewhere(component, field.name))):
            click.echo(columns("", at, line, width))


def _beside(labels: Iterable[str]) -> int:
    """Where the right column begins: at LABEL, or beside the longest label."""
    return max([LABEL, *(len(label) + 2 for label in labels)])


def declared(component: Component) -> Iterator[tuple[str, str]]:
    """(label, text) for a component's declarations, and for its defaults for other slots."""
    for label in DECLARED:
        value: Any = getattr(component, label)
        if value:
            text = ", ".join(value) if isinstance(value, tuple) else str(value)
            yield label.replace("_", " "), text
    for slot, default in component.defaults.items():
        text = str(default)
        if isinstance(default, Mapping):
            text = ", ".join(f"{name} for {space}" for space, name in default.items())
        yield f"default {slot}", text


def elsewhere(component: Component, setting: str) -> Iterator[str]:
    """The effects of a setting beyond its own component, a line each."""
    if places := [place for own, place in component.forwarded() if own == setting]:
        yield f"sets {' and '.join(places)}"
    if plugin := component.activates.get(setting):
        yield f"true is the same as --plugin {plugin}"
    if kind := component.selects.get(setting):
        yield f"names one of: rlk plugins list --kind {kind}"
