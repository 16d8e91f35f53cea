"""Contracts of callbacks, loggers, commands and presets fail where a component is broken."""

from __future__ import annotations

import copy
from collections.abc import Mapping

import attrs
import click
import pytest

from rlk import hookimpl, testing
from rlk.component import Component
from rlk.testing import stand_ins

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
def test_a_broken_command_fails(fails, factory, check):
    good = Component(name="count", factory=good_command, summary="counts")
    fails(testing.CommandContract, good, attrs.evolve(good, factory=factory), check)


class Tuned:
    """Good: one entry."""

    entries: Mapping = {("stand-in", "CartPole-v1"): {"gamma": 0.25}}

    def find(self, algo, env):
        return copy.deepcopy(self.entries.get((algo, env)))


class AlwaysTuned(Tuned):
    def find(self, algo, env):
        return {"gamma": 0.25}


class GivesAwayItsOwn(Tuned):
    entries: Mapping = {("stand-in", "CartPole-v1"): {"gamma": 0.25}}

    def find(self, algo, env):
        return self.entries.get((algo, env))


class TunesNothingThatExists(Tuned):
    entries: Mapping = {("stand-in", "CartPole-v1"): {"gama": 0.25}}


@pytest.mark.parametrize(
    ("factory", "check"),
    [
        (AlwaysTuned, "test_it_has_nothing_for_what_nobody_tuned"),
        (GivesAwayItsOwn, "test_what_it_gives_out_is_not_its_own"),
        (TunesNothingThatExists, "test_its_settings_make_a_plan_that_says_where_they_came_from"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_broken_preset_source_fails(fails, factory, check):
    good = Component(name="tuned", factory=Tuned, summary="tuned settings")

    def kernel(self):
        made = stand_ins.stand_in_kernel()
        made.registries.presets.register(self.component.name, self.component)
        return made

    known = (("stand-in", "CartPole-v1"),)
    broken = attrs.evolve(good, factory=factory)
    fails(testing.PresetContract, good, broken, check, known=known, kernel=kernel)
