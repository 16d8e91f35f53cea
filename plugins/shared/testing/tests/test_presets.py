"""The contract of presets fails where a source of them is broken."""

from __future__ import annotations

import copy
from collections.abc import Mapping

import attrs
import pytest

import rlk_testing as testing
from rlk import Patch, hookimpl
from rlk.component import Component
from rlk_testing import stand_ins


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


class NamesOnePlugin(Tuned):
    entries: Mapping = {("stand-in", "CartPole-v1"): {"gamma": 0.25, "plugins": "eager"}}


class KnowsNothing(Tuned):
    entries: Mapping = {}


class MisspellsASlotsSetting(Tuned):
    entries: Mapping = {("stand-in", "CartPole-v1"): {"gamma": 0.25, "policy.lairs": [4]}}


class AddsAPluginThatOutranksIt(Tuned):
    entries: Mapping = {("stand-in", "CartPole-v1"): {"gamma": 0.25, "plugins": ["eager"]}}


class Eager:
    """An extension that proposes what a preset proposes, too."""

    @hookimpl
    def rlk_configure(self):
        return Patch({"gamma": 0.75})


TUNED = Component(name="tuned", factory=Tuned, summary="tuned settings")
KNOWN = (("stand-in", "CartPole-v1"),)


def kernel(suite):
    """A kernel with the suite's preset source, and an extension that outranks it."""
    made = stand_ins.stand_in_kernel()
    made.registries.presets.register(suite.component.name, suite.component)
    made.registries.extensions.register("eager", Eager)
    return made


REACHES = "test_every_setting_and_plugin_that_it_gives_reaches_the_plan"


@pytest.mark.parametrize(
    ("factory", "check"),
    [
        (MisspellsASlotsSetting, REACHES),
        (AddsAPluginThatOutranksIt, REACHES),
        (KnowsNothing, "test_it_has_settings_for_what_it_knows"),
        (NamesOnePlugin, "test_it_has_settings_for_what_it_knows"),
        (AlwaysTuned, "test_it_has_nothing_for_what_nobody_tuned"),
        (GivesAwayItsOwn, "test_what_it_gives_out_is_not_its_own"),
        (TunesNothingThatExists, "test_its_settings_make_a_plan_that_says_where_they_came_from"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_broken_preset_source_fails(rlk_fails, factory, check):
    error = "UnknownName: unknown setting" if factory is TunesNothingThatExists else ""
    broken = attrs.evolve(TUNED, factory=factory)
    rlk_fails(testing.PresetContract, TUNED, broken, check, error, known=KNOWN, kernel=kernel)


def test_what_an_algorithm_that_is_not_installed_has_is_left_out(rlk_fails, rlk_verdict):
    lost = (("nobody", "CartPole-v1"),)
    broken = attrs.evolve(TUNED, factory=MisspellsASlotsSetting)
    fields = {"known": lost + KNOWN, "kernel": kernel}
    rlk_fails(testing.PresetContract, TUNED, broken, REACHES, **fields)
    alone = {"component": TUNED, "known": lost, "kernel": kernel}
    assert rlk_verdict(type("Suite", (testing.PresetContract,), alone), REACHES) == "skipped"
