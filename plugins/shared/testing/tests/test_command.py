"""The contract of commands fails for a broken command."""

from __future__ import annotations

import attrs
import click
import pytest

from rlk.component import Component
from rlk_testing import CommandContract


@click.command()
@click.option("--number", type=int, help="How many.")
def good_command(number):
    """Count."""


@click.command()
@click.option("--number", type=int)
def silent_command(number):
    pass


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("rest", nargs=-1)
def careless_command(rest):
    """Count."""


@pytest.mark.parametrize(
    ("factory", "check"),
    [
        (print, "test_it_is_a_click_command"),
        (silent_command, "test_it_says_what_it_does"),
        (silent_command, "test_every_option_says_what_it_is_for"),
        (careless_command, "test_an_unknown_option_is_refused"),
    ],
)
def test_a_broken_command_fails(factory, check):
    good = Component(name="count", factory=good_command, summary="counts")
    broken = attrs.evolve(good, factory=factory)
    sound, unsound = (
        type("Suite", (CommandContract,), {"component": one})() for one in (good, broken)
    )
    getattr(sound, check)()
    with pytest.raises(AssertionError):
        getattr(unsound, check)()
