from __future__ import annotations

import pytest

from rlk.errors import EnvironmentFailed, PlanError, RlkError
from rlk.hookspecs import hookimpl
from rlk.planning.spec import Patch
from rlk_testing.environments import BY_ACTION_SPACE, BoxMatch, DiscreteMatch
from rlk_testing.stand_ins import StandInStorage

MATCH = BY_ACTION_SPACE["Discrete"]


def test_training_continues_in_another_environment_with_the_same_spaces(make):
    agent = make()
    agent.learn(20)
    old = agent.get_env()
    agent.set_env(lambda: DiscreteMatch(length=3))
    assert agent.get_env() is not old
    agent.learn(24)
    assert {length for _, length in list(agent.run.metrics.recent_episodes)[-4:]} == {3}


def test_a_closed_agent_takes_no_other_environment(make):
    agent = make()
    agent.close()
    before = agent.run.env
    with pytest.raises(RlkError, match=r"^set_env: this agent is closed.*rlk\.load"):
        agent.set_env(DiscreteMatch)
    assert agent.run.env is before


def test_none_is_no_environment(make):
    agent = make()
    for _ in range(2):
        with pytest.raises(PlanError, match=r"env must be an id, .* got NoneType None"):
            agent.set_env(None)
        agent.get_env()


def test_if_the_old_environment_cannot_be_closed_the_agent_has_the_new_one(make, monkeypatch):
    def fails():
        raise EnvironmentFailed("the simulator is gone")

    agent = make()
    monkeypatch.setattr(agent.run.env, "close", fails)
    with pytest.raises(EnvironmentFailed, match="the simulator is gone"):
        agent.set_env(DiscreteMatch)
    assert agent.plan is agent.run.plan and agent.plan.env.name == "DiscreteMatch"
    agent.learn(8)


def test_keywords_of_the_environment_stay_with_one_of_its_name(make):
    agent = make(env=DiscreteMatch, **{"env.length": 9})
    agent.set_env(DiscreteMatch)
    assert agent.get_env().call("get_wrapper_attr", "length") == (9,) * agent.run.n_envs
    agent.set_env(lambda: DiscreteMatch(length=3))
    assert agent.get_env().call("get_wrapper_attr", "length") == (3,) * agent.run.n_envs
    assert not agent.plan.env.kwargs


def test_a_storage_that_asks_the_environment_is_told_of_another_one(make):
    told = []

    class Asks(StandInStorage):
        def environment_changed(self):
            told.append(agent.run.plan.env.name)

    class Makes:
        @hookimpl
        def rlk_make_storage(self):
            return Asks()

    agent = make(plugins=[Makes()])
    agent.set_env(DiscreteMatch)
    assert told == ["DiscreteMatch"]

    def refuses():
        raise PlanError("it has no rewards")

    agent.run.on_change_env.append(refuses)
    before = agent.run.env
    with pytest.raises(PlanError, match="no rewards"):
        agent.set_env(lambda: DiscreteMatch(length=3))
    assert agent.run.env is before and agent.run.plan.env.name == "DiscreteMatch"
    agent.learn(20)


def test_an_environment_with_other_spaces_is_refused_and_the_old_one_stays(make):
    agent = make()
    old = agent.get_env()
    with pytest.raises(PlanError, match="observation_space"):
        agent.set_env(BoxMatch)
    assert agent.get_env() is old
    agent.learn(20)


def test_an_agent_with_a_preset_moves_to_what_the_preset_does_not_know(make, rlk_stand_in_kernel):
    class OfOneEnvironment:
        def find(self, algo, env):
            return {"n_steps": 3} if env == MATCH else None

    rlk_stand_in_kernel.registries.presets.register("tuned", OfOneEnvironment)
    agent = make(preset="tuned")
    agent.set_env(lambda: DiscreteMatch(length=3))
    assert agent.get_env().call("get_wrapper_attr", "length") == (3,) * agent.run.n_envs


def test_another_environment_is_in_the_wrappers_of_the_plan_whatever_plugins_propose_for_it(
    make, rlk_stand_in_kernel
):
    class WrapsFunctions:
        @hookimpl
        def rlk_configure(self, spec):
            return Patch({"plugins": ["keeps"]}) if callable(spec.given["env"]) else None

    wrapped = []

    def keep(env):
        wrapped.append(env)
        return env

    rlk_stand_in_kernel.registries.wrappers.register("keeps", keep)
    agent = make(plugins=[WrapsFunctions()])
    agent.set_env(lambda: DiscreteMatch(length=3))
    assert not agent.plan.wrappers and not wrapped


def test_components_and_plugins_may_refuse_another_environment(make):
    class Refuses:
        @hookimpl
        def rlk_check_plan(self, plan):
            return "not in a function" if plan.env.name == "<lambda>" else None

    agent = make(plugins=[Refuses()])
    before = agent.run.env
    with pytest.raises(PlanError, match=r"^not in a function$"):
        agent.set_env(lambda: DiscreteMatch(length=3))
    assert agent.run.env is before and not agent.run.closed
    agent.learn(20)
