"""`rlk plugins show`: one component on a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from rlk.component import Component
from rlk.registry.kernel import default_kernel
from rlk.registry.kinds import singular
from rlk_cli.fields import fields_of

DECLARED = (
    "collects",
    "action_spaces",
    "observation_spaces",
    "reports",
    "needs",
    "stages",
    "recurrent",
)


@click.command()
@click.argument("name")
def show(name: str) -> None:
    """One component: what it does, what it needs, and every setting with its default."""
    entry = default_kernel().registries.find(name)
    component = entry.component()
    click.secho(name, bold=True, nl=False)
    click.echo(f"  {singular(entry.kind)} of {entry.owner}\n{component.summary}\n")
    for label, text in declared(component):
        click.echo(f"{label:<30}{text}")
    if component.config is None:
        click.echo("\nno settings")
        return
    prefix = "" if entry.kind == "algorithms" else f"{component.name}."
    click.secho(f"\nsettings (--set {prefix}KEY=VALUE)", bold=True)
    for field, kind, default, help_text in fields_of(component.config, component.own):
        click.echo(f"  {field:<30} {default:<12} {kind}")
        click.echo(f"  {'':<30} {help_text}")
        if field in component.forwards:
            click.echo(f"  {'':<30} is {component.forwards[field]}")


def declared(component: Component) -> Iterator[tuple[str, str]]:
    """(what, its value) of all that a component says about itself and wants elsewhere."""
    for label in DECLARED:
        value: Any = getattr(component, label)
        if value:
            text = ", ".join(value) if isinstance(value, tuple) else str(value)
            yield label.replace("_", " "), text
    for slot, wish in component.defaults.items():
        text = wish
        if isinstance(wish, Mapping):
            text = ", ".join(f"{name} for {space}" for space, name in wish.items())
        yield f"default {slot}", text
