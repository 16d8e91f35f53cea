"""`rlk plugins new`: a plugin package, ready to install, whose tests pass as it stands."""

from __future__ import annotations

from pathlib import Path

import click

from rlk.errors import PlanError
from rlk.registry.kernel import default_kernel
from rlk.registry.kinds import singular
from rlk.registry.registry import Registry
from rlk_cli.kinds import kind_of
from rlk_scaffold.kinds import VARIANTS, example, kinds
from rlk_scaffold.package import (
    check_free,
    names,
    render_package,
    try_lines,
    with_tools,
    write_package,
)
from rlk_scaffold.tree import is_inside

_KINDS = ", ".join(map(singular, kinds()))


@click.command("new", epilog="rlk plugins new recent-first --kind storage --decorating")
@click.argument("name")
@click.option("--kind", required=True, metavar="KIND", help=f"One of: {_KINDS}.")
@click.option("--decorating", is_flag=True, help="For a storage: one that decorates a replay.")
@click.option("--off-policy", is_flag=True, help="For an algorithm: one that learns from a replay.")
@click.option("--recurrent", is_flag=True, help="For a policy: one with a memory.")
@click.option(
    "--class", "given_class", default="", help="Name of the main class; by default that of NAME."
)
@click.option("--dist", help="Name of the distribution; rlk-NAME by default.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="The folder to write, new or empty; ./NAME by default.",
)
def new(
    name: str,
    kind: str,
    decorating: bool,
    off_policy: bool,
    recurrent: bool,
    given_class: str,
    dist: str | None,
    out: Path | None,
) -> None:
    """Write a package for a plugin NAME: a small working example of its kind, with its tests."""
    made = names(name, dist, given_class)
    flags = {"decorating": decorating, "off-policy": off_policy, "recurrent": recurrent}
    variants = [variant for variant, is_set in flags.items() if is_set]
    if len(variants) > 1:
        told = ", ".join(f"--{variant} is for {VARIANTS[variant]}" for variant in variants)
        raise PlanError(f"{told}: use one of them.")
    registries = default_kernel().registries
    known = (*registries, *map(Registry, kinds()))  # a kind may have no component yet
    chosen = example(kind_of(kind, known, "listed by: rlk plugins new --help"), *variants)
    check_free(made, chosen.kind, registries, chosen.group)
    folder = out or Path(name)
    files = render_package(made, chosen)
    if not is_inside(folder):
        files = with_tools(files)
    write_package(folder, files)
    click.echo(f"{singular(chosen.kind)} {name!r}, an example to change: {chosen.summary}")
    for path in files:
        click.echo(f"  {folder / path}")
    click.echo("Next:")
    for line in (f"cd {folder}", 'pip install -e ".[test]"', "pytest", *try_lines(made, chosen)):
        click.echo(f"  {line}")
