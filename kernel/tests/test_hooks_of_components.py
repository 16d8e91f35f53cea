"""A component of any kind may name what answers hooks for it in a run."""

from __future__ import annotations

import attrs
import pytest

from rlk import hookimpl
from rlk.component import Component
from rlk.errors import BrokenPlugin, PlanError
from rlk.planning.spec import Patch
from rlk_testing.environments import BY_ACTION_SPACE
from rlk_testing.stand_ins import StandInVecEnv


@attrs.frozen(kw_only=True)
class Config:
    said: str = "by default"


class Hooks:
    def __init__(self, config):
        self.config = config

    @hookimpl
    def rlk_check_plan(self, plan):
        return f"refused {self.config.said}" if self.config.said != "by default" else None


def vec_env(env_fns, *, config, info_keys=()):
    return StandInVecEnv(env_fns, info_keys=info_keys)


@pytest.fixture
def make(rlk_make, rlk_stand_in_kernel):
    def made(component=None, **given):
        if component is not None:
            rlk_stand_in_kernel.registries.vec_envs.register(component.name, component)
            given["vec_env"] = component.name
        base = {"env": BY_ACTION_SPACE["Discrete"], "seed": 0, "kernel": rlk_stand_in_kernel}
        return rlk_make("stand-in", **{**base, **given})

    return made


def test_they_answer_in_runs_that_the_component_is_a_part_of_with_its_config(make):
    component = Component(name="mine", factory=vec_env, config=Config, hooks=Hooks)
    assert isinstance(make(component).run.hooks.get("mine"), Hooks)
    with pytest.raises(PlanError, match="refused so"):
        make(component=None, vec_env="mine", mine={"said": "so"})
    assert make().run.hooks.get("mine") is None


def test_hooks_that_are_not_there_are_a_broken_plugin(make):
    component = Component(name="mine", factory=vec_env, config=Config, hooks="no.such:thing")
    with pytest.raises(BrokenPlugin, match=r"'mine'.* is broken: ModuleNotFoundError"):
        make(component)


class Proposes:
    """Counts how often it is asked, and proposes a patch."""

    def __init__(self, values):
        self.values, self.asked = values, 0

    @hookimpl
    def rlk_configure(self, spec):
        self.asked += 1
        return Patch(self.values)


def test_a_plugin_that_another_ones_patch_puts_in_is_asked_for_its_own_once(make):
    last = Proposes({"log_interval": 77})
    first = Proposes({"plugins": [Proposes({"plugins": [last]})]})
    assert make(plugins=[first]).plan.log_interval == 77
    assert (first.asked, last.asked) == (1, 1)


def test_what_fills_a_slot_proposes_nothing_and_is_told_so(make):
    component = Component(name="mine", factory=vec_env, hooks=lambda: Proposes({}))
    with pytest.raises(BrokenPlugin, match=r"'mine'.*rlk_configure.*Move it to an extension\.$"):
        make(component)


def test_a_program_ends_where_a_plugin_does_something_else_than_train(make):
    class Elsewhere:
        @hookimpl
        def rlk_take_over(self, plan):
            return 7

    with pytest.raises(SystemExit) as ended:
        make(plugins=[Elsewhere()])
    assert ended.value.code == 7
