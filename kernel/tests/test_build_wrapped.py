"""How wrappers, filters and decorators are put around environments, policies and storages."""

from __future__ import annotations

import re

import attrs
import gymnasium as gym
import numpy as np
import pytest
import torch

from rlk import hookimpl
from rlk.component import Component
from rlk.errors import BrokenPlugin, NotFinite, PlanError
from rlk.one_process import OneProcess
from rlk.running.vec_env import make_vec_env
from rlk_testing.environments import DiscreteMatch
from rlk_testing.stand_ins import StandInPolicy, StandInVecEnv


def test_a_vector_wrapper_activates_what_its_environments_share_and_filters_observations(
    make, rlk_stand_in_kernel
):
    import gymnasium as gym

    class Twice(torch.nn.Module):
        def forward(self, observation):
            return 2.0 * observation

    class Shared:
        module = Twice()

        @hookimpl
        def rlk_filter_observation(self):
            return self.module

    class Wraps(gym.vector.VectorWrapper):
        def __init__(self, env, *, training, hooks, **_):
            super().__init__(env)
            if hooks.get("wraps") is None:
                hooks.activate(Shared(), "wraps")
            self.shared = hooks.get("wraps")

    component = Component(name="wraps", factory=Wraps, wraps="vector")
    rlk_stand_in_kernel.registries.wrappers.register("wraps", component)
    agent = make("wraps")
    assert agent.run.policy.filter1 is Shared.module
    evaluation = make_vec_env(agent.plan, agent.run.hooks, 1, training=False)
    assert evaluation.shared is agent.run.env.shared
    agent.set_env(agent.plan.env.name)
    assert agent.run.env.shared is evaluation.shared


def wrapping_communicators(wrap, **marks):
    class Wraps:
        @hookimpl(**marks)
        def rlk_wrap_communicator(self, run):
            return wrap

    return Wraps()


def test_a_communicator_is_wrapped_also_that_of_one_process(make):
    class Around(OneProcess):
        def __init__(self, inner):
            self.inner = inner

    class Outer(Around):
        """The outermost."""

    class Ranks(OneProcess):
        @hookimpl
        def rlk_make_communicator(self):
            return self

    wrappers = (wrapping_communicators(Outer), wrapping_communicators(Around, tryfirst=True))
    for given, innermost in (((), OneProcess), ((Ranks(),), Ranks)):
        run = make(*given, *wrappers).run
        inside = run.communicator.inner
        assert [type(one) for one in (run.communicator, inside)] == [Outer, Around]
        assert type(inside.inner) is innermost
        assert run.optimise._communicator is run.communicator


def test_a_wrapper_that_returns_no_communicator_is_named(make):
    said = r"^plugin 'Wraps-0': wrap_communicator\(\) returned None\. It must return a communicator"
    with pytest.raises(BrokenPlugin, match=said):
        make(wrapping_communicators(lambda communicator: None))


def test_a_policy_is_built_for_the_space_that_a_plugin_says(make, rlk_stand_in_kernel):
    class TakesOut:
        @hookimpl
        def rlk_policy_space(self, plan):
            self.asked = plan.observation_space
            return gym.spaces.Box(-1.0, 1.0, (7,), np.float32)

        @hookimpl
        def rlk_check_plan(self, plan):
            self.checked = plan.policy_space

    seen = []

    class Builds(StandInPolicy):
        def build(self, observation_space, heads):
            seen.append(observation_space)
            return super().build(observation_space, heads)

    rlk_stand_in_kernel.registries.policies.register("builds", Builds)
    takes = TakesOut()
    plan = make(takes, policy="builds").plan
    assert plan.policy_space.shape == takes.checked.shape == (7,)
    assert seen == [plan.policy_space]
    assert takes.asked is plan.observation_space and takes.asked.shape != (7,)


def test_wrappers_of_one_environment_wrap_a_vector_that_was_passed_inside_all_others(
    make, rlk_stand_in_kernel
):
    class Wider(gym.vector.VectorWrapper):
        """Shows every number twice."""

        def __init__(self, env, config):
            super().__init__(env)
            self.times = config.times
            self.single_observation_space = self.of(env.single_observation_space, None, config)[0]
            batch = gym.vector.utils.batch_space
            self.observation_space = batch(self.single_observation_space, env.num_envs)

        @staticmethod
        def of(observation_space, action_space, config):
            size = config.times * observation_space.shape[0]
            return gym.spaces.Box(-1.0, 1.0, (size,), np.float32), action_space

    class Wraps:
        """Tells how it wraps a vector."""

        vector_spaces = staticmethod(Wider.of)
        around_vector = Wider

    @attrs.frozen
    class Config:
        times: int = 2

    class Outside(gym.vector.VectorWrapper):
        def __init__(self, env, **_):
            super().__init__(env)

    wrappers = rlk_stand_in_kernel.registries.wrappers
    wrappers.register("outside", Component(name="outside", factory=Outside, wraps="vector"))
    wrappers.register("widens", Component(name="widens", factory=Wraps, config=Config))
    vector = StandInVecEnv([DiscreteMatch] * 2)
    agent = make("outside", "widens:times=3", env=vector)
    assert agent.plan.observation_space.shape == (9,)
    assert type(agent.run.env) is Outside and type(agent.run.env.env) is Wider
    assert agent.run.env.env.env is vector and agent.run.env.env.times == 3


def test_a_policy_that_takes_no_filters_is_refused_where_there_is_one(make):
    class Filters:
        @hookimpl
        def rlk_filter_observation(self):
            return torch.nn.Identity()

    class Plain:
        @hookimpl
        def rlk_make_policy(self):
            return torch.nn.Linear(3, 1)

    with pytest.raises(PlanError, match=r"policy 'stand-in-policy' .* takes no filters"):
        make(Filters(), Plain())


@pytest.mark.parametrize(
    ("changed", "shape"),
    [(lambda reward: reward.mean(), ()), (lambda reward: reward[:, None], (2, 1))],
)
def test_rewards_that_a_plugin_gives_another_shape_are_refused_by_its_name(make, changed, shape):
    class Changes:
        @hookimpl
        def rlk_wrap_add(self):
            return lambda add: lambda step: add(step._replace(reward=changed(step.reward)))

    agent = make(Changes(), n_envs=2)
    found = rf"plugin 'Changes-\d' \(rlk_wrap_add\) .* of shape {re.escape(str(shape))}"
    with pytest.raises(BrokenPlugin, match=found):
        agent.learn(4)


def test_a_non_finite_reward_of_a_plugin_is_refused_by_its_name_and_not_stored(make):
    class Changes:
        @hookimpl
        def rlk_wrap_add(self):
            return lambda add: lambda step: add(step._replace(reward=step.reward * np.inf))

    agent = make(Changes(), n_envs=2)
    found = r"plugin 'Changes-\d' \(rlk_wrap_add\) .* reward of .*\nNothing of this step was stored"
    with pytest.raises(NotFinite, match=found):
        agent.learn(4)
    assert len(agent.run.storage) == 0


def test_a_storage_that_takes_no_decorator_is_refused_where_there_is_one(make, rlk_stand_in_kernel):
    class Decorates:
        def open(self, base, schema): ...
        def added(self, slots): ...
        def feedback(self, batch, update): ...
        def state_dict(self): ...
        def load_state_dict(self, state): ...
        def choose(self, n): ...

    storages = rlk_stand_in_kernel.registries.storages
    storages.register("decorates", Decorates, stages=("choose",))
    message = r"storage 'stand-in-storage' .* takes no decorator, but there is .*'decorates'"
    with pytest.raises(PlanError, match=message):
        make("decorates")
