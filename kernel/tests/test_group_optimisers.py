"""A parameter group with an optimiser of its own: `vf_optimiser` in an algorithm's defaults."""

from __future__ import annotations

import json

import attrs
import pytest

from rlk.errors import UnknownName
from rlk.planning.resolve import resolve
from rlk.planning.spec import make_spec
from rlk.restoring.saved_plan import as_json, spec_of
from rlk_testing.environments import BY_ACTION_SPACE
from rlk_testing.stand_ins import COMPONENTS, StandIn, StandInOptimiser


@attrs.frozen(kw_only=True)
class Rate:
    rate: float = 0.5


class Configured(StandInOptimiser):
    def __init__(self, group, config):
        super().__init__(group)
        self.rate = config.rate


class TwoGroups(StandIn):
    """`value` moves everything in steps; `vf`, the same range, has an optimiser of its own."""

    def __init__(self, config, run):
        super().__init__(config, run)
        run.group("vf", learning_rate=0.1)


@pytest.fixture
def kernel(rlk_stand_in_kernel):
    registries = rlk_stand_in_kernel.registries
    for name in ("slow", "fast"):
        registries.optimisers.register(name, Configured, config=Rate)
    defaults = {**COMPONENTS["algorithms"].defaults, "vf_optimiser": "slow"}
    changed = attrs.evolve(
        COMPONENTS["algorithms"], name="two", factory=TwoGroups, defaults=defaults
    )
    registries.algorithms.register("two", changed)
    return rlk_stand_in_kernel


@pytest.fixture
def plan(kernel):
    return lambda **given: resolve(kernel, make_spec("two", given))


def optimisers(plan):
    own = plan.optimisers["vf_optimiser"]
    return plan.optimiser.name, own.name, own.config and own.config.rate


def test_it_has_what_the_algorithm_wants_unless_told_otherwise(plan):
    assert optimisers(plan()) == ("stand-in-optimiser", "slow", 0.5)
    assert plan().optimisers["vf_optimiser"].origin.by == "algorithm two"
    assert optimisers(plan(vf_optimiser="fast")) == ("stand-in-optimiser", "fast", 0.5)
    assert plan(vf_optimiser="fast").optimisers["vf_optimiser"].origin.by == "user"


def test_the_optimiser_of_the_run_is_that_of_the_other_groups(plan):
    assert optimisers(plan(optimiser="fast")) == ("fast", "slow", 0.5)
    assert optimisers(plan(plugins=["fast"])) == ("fast", "slow", 0.5)


def test_its_settings_are_reached_by_name_and_by_slot(plan):
    assert optimisers(plan(**{"slow.rate": 0.1}))[2] == 0.1
    assert optimisers(plan(vf_optimiser={"rate": 0.2}))[2] == 0.2
    both = plan(optimiser="slow", **{"vf_optimiser.rate": 0.3})
    assert both.optimiser.config.rate == 0.5 and optimisers(both)[2] == 0.3


@pytest.mark.parametrize(
    ("given", "near"),
    [
        ({"vf_optimiser": "sloww"}, "slow"),
        ({"pi_optimiser": "slow"}, "vf_optimiser"),
        ({"vf_optimiser.speed": 1}, "rate"),
    ],
)
def test_what_does_not_exist_is_refused_with_what_does(plan, given, near):
    with pytest.raises(UnknownName, match=near):
        plan(**given)


def test_the_plan_says_it_and_a_saved_plan_makes_it_again(plan, kernel):
    first = plan(**{"vf_optimiser": "fast", "fast.rate": 0.25})
    saved = json.loads(json.dumps(as_json(first)))
    again = resolve(kernel, spec_of(saved, kernel))
    assert optimisers(again) == ("stand-in-optimiser", "fast", 0.25)
    saved = as_json(plan(optimiser="slow", **{"slow.rate": 0.1, "vf_optimiser.rate": 0.3}))
    again = resolve(kernel, spec_of(saved, kernel))
    assert again.optimiser.config.rate == 0.1 and optimisers(again)[2] == 0.3


def test_each_group_is_built_with_its_own(kernel, rlk_make):
    agent = rlk_make("two", kernel=kernel, env=BY_ACTION_SPACE["Discrete"], vf_optimiser="fast")
    steps = agent.run.optimise.steps
    assert type(steps["value"]) is StandInOptimiser and type(steps["vf"]) is Configured
