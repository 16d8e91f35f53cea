"""Options that several commands share, and how they become a RunSpec."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from rlk.spec import SLOTS, RunSpec, make_spec, parse_settings

Command = Callable[..., Any]


def environment_options(command: Command) -> Command:
    """`--env`, `--plugin`, `--set`, `--device`, `--seed`: for every command that makes an agent."""
    for option in reversed(
        [
            click.option(
                "--env", metavar="ENV", help="Id, module:Id-v0, module:Class or ./file.py:Class."
            ),
            click.option(
                "--plugin",
                "plugins",
                multiple=True,
                metavar="NAME[:k=v,…]",
                help="Put a component in its slot, or activate it; no:NAME takes one out.",
            ),
            click.option(
                "--set",
                "pairs",
                multiple=True,
                metavar="KEY=VALUE",
                help="A setting: gamma=0.98, policy.layers=[256,256], env.gravity=9.0.",
            ),
            click.option("--seed", type=int, help="Of everything random; drawn if not given."),
            click.option("--device", metavar="D", help="auto, cpu, cuda, cuda:1, …"),
            click.option("--debug", is_flag=True, help="Show tracebacks."),
        ]
    ):
        command = option(command)
    return command


def slot_options(command: Command) -> Command:
    """One option per slot that a single component fills."""
    for slot in reversed(SLOTS):
        flag = f"--{slot.replace('_', '-')}"
        command = click.option(
            flag, slot, metavar="NAME", help=f"The component for the slot {slot}."
        )(command)
    return command


def spec_from(algo: str, said: dict[str, Any], pairs: tuple[str, ...]) -> RunSpec:
    """A RunSpec from a command line: options that were given, and `--set`."""
    given = {key: value for key, value in said.items() if value is not None and value != ()}
    return make_spec(algo, {**parse_settings(pairs), **given})
