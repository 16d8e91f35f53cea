"""`rlk doctor`. Modules that are slow to import are imported when it is called."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import attrs
import click

from rlk_cli.columns import columns, terminal_width
from rlk_doctor.finding import Finding

_COLOURS = {"ok": None, "missing": "yellow", "broken": "red"}


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list, for programs.")
@click.pass_context
def doctor(context: click.Context, as_json: bool) -> None:
    """Show what is installed, and what is broken or missing on this machine.

    A line about a problem says what to type to solve it. Paste the output into a bug report. The
    exit code is 1 if something is broken.
    """
    found = list(_findings())
    if as_json:
        click.echo(json.dumps([attrs.asdict(one) for one in found], indent=2))
    else:
        _print(found)
    if any(one.state == "broken" for one in found):
        context.exit(1)


def _findings() -> Iterator[Finding]:
    """Every line."""
    from rlk.registry.kernel import default_kernel
    from rlk_doctor import machine, packages, plugins

    registries = default_kernel().registries
    yield from packages.versions()
    yield machine.python()
    yield machine.processor()
    yield from machine.libraries()
    yield machine.cpp_compiler()
    yield from machine.mpi()
    yield from packages.requirements()
    yield from packages.extras()
    yield from plugins.loadable(registries)
    yield machine.cache()
    yield machine.folder("runs folder", Path("runs"), "rlk run … --out FOLDER")


def _print(found: list[Finding]) -> None:
    width, at = terminal_width(), 2 + max(len(one.what) for one in found)
    for one in found:
        text = one.found if one.state == "ok" else f"{one.state}: {one.found}"
        advice = f" Type: {one.advice}" if one.advice else ""
        click.secho(columns(one.what, at, text + advice, width), fg=_COLOURS[one.state])
    counts = {state: sum(one.state == state for one in found) for state in ("broken", "missing")}
    click.echo(f"{counts['broken']} broken, {counts['missing']} missing")
