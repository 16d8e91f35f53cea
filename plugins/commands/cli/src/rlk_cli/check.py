"""`rlk plugins check`: checks that installed components can be used."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import click

from rlk.errors import BrokenPlugin, RlkError
from rlk.planning.choice import ANSWERING
from rlk.planning.layers import in_slots
from rlk.planning.references import wrong_references
from rlk.registry.entry import Entry
from rlk.registry.implementations import why_not_called
from rlk.registry.kernel import default_kernel
from rlk.registry.registries import Registries
from rlk.registry.registry import clash
from rlk_cli import diagnose
from rlk_cli.completion import names_of


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]…", shell_complete=names_of())
def check(names: tuple[str, ...]) -> None:
    """Check that all components, or each NAME, can be imported and used; print what is wrong."""
    registries = default_kernel().registries
    entries = [registries.find(name) for name in names] or list(registries.every_entry())
    faults = 0
    for entry in entries:
        found = fault(entry, registries)
        faults += found is not None
        if found or names:
            click.secho(f"{entry.title}: {found or 'sound'}", fg="red" if found else "green")
    used = {*names, *(name for entry in entries for name in _defaults(entry))}
    for name, rivals in diagnose.clashes(registries).items():
        if not names or name in used:
            faults += 1
            click.secho(str(clash(name, rivals)), fg="red")
    click.echo(f"{len(entries)} checked, {faults} broken")
    if faults:
        raise RlkError(
            "some plugins are broken. Where a line does not say what to type, uninstall the plugin "
            "or tell its authors."
        )


def _defaults(entry: Entry) -> Iterator[str]:
    """The names of the components that a component wants in the slots of a run."""
    with contextlib.suppress(BrokenPlugin):  # its fault is printed
        yield from in_slots(entry.component().defaults)


def fault(entry: Entry, registries: Registries) -> str | None:
    """Why a component cannot be used, or None; its implementation is imported for this.

    Names of other components in its record, such as its default storage, are looked up.
    """
    found = diagnose.problem(entry)
    if found:
        return found
    try:
        factory, hooks = entry.load(), entry.imported(entry.component().hooks)
        entry.imported(entry.component().connects)
    except BrokenPlugin as error:
        return str(error).removeprefix(f"{entry.title} is broken: ")
    wrong = list(wrong_references(entry.component(), entry.kind, registries))
    wrong += _hidden_commands(entry, registries)
    answering = factory if entry.kind in ANSWERING else hooks
    if isinstance(answering, type):
        wrong += filter(None, [why_not_called(answering)])
    return "; ".join(wrong) or None


def _hidden_commands(entry: Entry, registries: Registries) -> Iterator[str]:
    """The commands that a command hides: with a command `env`, `env.check` cannot be reached."""
    if entry.kind == "commands":
        for other in registries.commands:
            if other.name.startswith(f"{entry.name}."):
                yield f"{other.title} cannot be reached beside it; one needs another name"
