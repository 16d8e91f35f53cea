"""Wrappers of a vector: they may change what is observed and how environments are made."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import VectorWrapper
from gymnasium.vector.utils import batch_space

import rlk
from rlk.component import Component
from rlk.errors import PlanError
from rlk_testing.environments import Walk


class Twice(VectorWrapper):
    """Observations stand there twice; it calls that a stack of two."""

    stack_size = 2

    def __init__(self, env, **_):
        super().__init__(env)
        spaces = env.single_observation_space, env.single_action_space
        self.single_observation_space, _ = self.vector_spaces(*spaces)
        self.observation_space = batch_space(self.single_observation_space, env.num_envs)

    @staticmethod
    def vector_spaces(observation_space, action_space):
        shape = (2 * observation_space.shape[0],)
        return gym.spaces.Box(-1e6, 1e6, shape, np.float32), action_space

    @staticmethod
    def env_keywords():
        return {"render_mode": "rgb_array"}

    def reset(self, **keywords):
        observation, infos = self.env.reset(**keywords)
        return twice(observation), infos

    def step(self, actions):
        observation, *rest, infos = self.env.step(actions)
        if "final_obs" in infos:
            ended = np.flatnonzero(infos["_final_obs"])
            for env in ended:
                infos["final_obs"][env] = twice(infos["final_obs"][env])
        return twice(observation), *rest, infos


def twice(observation):
    return np.concatenate([observation, observation], axis=-1)


TWICE = Component(name="twice", factory=Twice, kind="wrappers", wraps="vector")


@pytest.fixture
def agent(rlk_stand_in_kernel):
    """A function that makes an agent with that wrapper."""

    def make(**settings):
        settings = {"env": Walk, "n_steps": 4, "learning_rate": 1e-6, "seed": 1, **settings}
        return rlk.make("stand-in", kernel=rlk_stand_in_kernel, plugins=[TWICE], **settings)

    return make


def test_the_plan_has_the_spaces_that_a_wrapper_of_the_vector_makes(agent):
    with agent() as made:
        assert made.plan.observation_space.shape == (6,)
        made.learn(16)
        assert made.run.storage.schema.observation_space.shape == (6,)


def test_a_vector_that_was_passed_has_them_too(agent):
    mode = gym.vector.AutoresetMode.SAME_STEP
    with agent(env=gym.vector.SyncVectorEnv([Walk] * 2, autoreset_mode=mode)) as made:
        assert made.plan.observation_space.shape == (6,)
        made.learn(16)


def test_a_vector_of_another_interface_is_refused(agent):
    class Other:
        num_envs = 3
        observation_space, action_space = Walk().observation_space, Walk().action_space

        def step(self, action):
            raise AssertionError("it is refused before it is stepped")

    with pytest.raises(PlanError, match=r"Other is a vector.*none of Gymnasium's.*n_envs=3"):
        agent(env=Other())


def test_a_storage_is_told_of_stacks_that_a_wrapper_of_the_vector_makes(agent):
    with agent() as made:
        assert made.run.storage.schema.stack_size == 2


def test_environments_are_made_with_the_keywords_that_a_wrapper_wants(agent):
    from rlk.running.vec_env import make_vec_env

    with agent() as made:
        assert made.run.env.render_mode == "rgb_array"
        shown = make_vec_env(made.plan, made.run.hooks, 1, training=False, render_mode="human")
        assert shown.render_mode == "human"  # who asks for an evaluation has the last word
        shown.close()


def raises(env, **_):
    raise RuntimeError("cannot wrap")


def test_a_vector_that_cannot_be_wrapped_is_closed_unless_the_program_passed_it(
    rlk_stand_in_kernel,
):
    opened = []

    class Tells(Walk):
        def __init__(self):
            super().__init__()
            opened.append(self)

        def close(self):
            opened.remove(self)

    def make(**what):
        wrapper = Component(name="raises", factory=raises, kind="wrappers", wraps="vector")
        with pytest.raises(RuntimeError, match="cannot wrap"):
            rlk.make("stand-in", kernel=rlk_stand_in_kernel, plugins=[wrapper], n_steps=4, **what)

    make(env=Tells, n_envs=2)
    assert opened == []
    mode = gym.vector.AutoresetMode.SAME_STEP
    vector = gym.vector.SyncVectorEnv([Tells] * 2, autoreset_mode=mode)
    made = [*opened]
    make(env=vector)
    assert opened == made
    vector.close()
