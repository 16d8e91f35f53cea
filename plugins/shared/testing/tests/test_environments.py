"""The contract of environment components fails where their environments cannot be trained in."""

from __future__ import annotations

import attrs
import gymnasium as gym
import numpy as np
import pytest

import rlk_testing as testing
from rlk.component import Component
from rlk_testing.environments import Walk


def answering(maker):
    """The factory of a component whose only environment this makes."""
    return lambda env: maker if env == "tiny/Walk-v0" else None


def the_same_every_time():
    return ONE


ONE = Walk()
TINY = Component(name="tiny", factory=answering(Walk), summary="a tiny environment")


class NoEnvironment:
    """It has what an environment has, and is none."""

    def __init__(self):
        self.env = Walk()
        self.observation_space, self.action_space = (
            self.env.observation_space,
            gym.spaces.Discrete(3),
        )

    def reset(self, *, seed=None, options=None):
        return self.env.reset(seed=seed)

    def step(self, action):
        return self.env.step(action)

    def close(self):
        pass


class ResetsAsInTheOldGym(Walk):
    def reset(self, *, seed=None, options=None):
        return super().reset(seed=seed)[0]


class StepsAsInTheOldGym(Walk):
    def step(self, action):
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, reward, terminated or truncated, info


class IgnoresItsSeed(Walk):
    def reset(self, *, seed=None, options=None):
        return super().reset(seed=None)


class LosesANumber(Walk):
    def _observation(self):
        return super()._observation()[:2]


class LosesAKey(Walk):
    def __init__(self):
        super().__init__(observation="dict")

    def _observation(self):
        return {"place": super()._observation()["place"]}


class CountsRooms(Walk):
    """Observes a number that its Discrete space does not have."""

    def __init__(self):
        super().__init__(observation="dict")

    def _observation(self):
        return {**super()._observation(), "room": 5}


class ObservesNothing(Walk):
    def _observation(self):
        return np.full(3, np.nan, np.float32)


class RewardsInARow(Walk):
    def step(self, action):
        observation, reward, *rest = super().step(action)
        return (observation, np.array([reward]), *rest)


class FlagsInNumbers(Walk):
    def step(self, action):
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, reward, int(terminated), truncated, info


class SaysNothing(Walk):
    def step(self, action):
        return (*super().step(action)[:4], None)


class Knows:
    def __init__(self, *names):
        self.names = names

    def __call__(self, env):
        return Walk if env == "tiny/Walk-v0" else None

    def known(self):
        return self.names


@pytest.mark.parametrize(
    ("maker", "check"),
    [
        (NoEnvironment, "test_every_name_that_it_answers_to_is_made"),
        (the_same_every_time, "test_every_call_of_what_it_answers_makes_a_new_environment"),
        (IgnoresItsSeed, "test_one_seed_gives_one_series_of_each_environment"),
        (ObservesNothing, "test_its_environments_return_what_gymnasium_says"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_component_whose_environment_is_broken_fails(rlk_fails, maker, check):
    broken = attrs.evolve(TINY, factory=answering(maker))
    rlk_fails(testing.EnvironmentContract, TINY, broken, check, ids=("tiny/Walk-v0",))


@pytest.mark.parametrize(
    ("maker", "field"),
    [
        (ResetsAsInTheOldGym, "result in reset"),
        (StepsAsInTheOldGym, "result in step"),
        (LosesANumber, "observation in reset"),
        (LosesAKey, "observation in reset"),
        (CountsRooms, "observation['room'] in reset"),
        (RewardsInARow, "reward in step"),
        (FlagsInNumbers, "terminated in step"),
        (SaysNothing, "info in step"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_component_whose_environment_returns_what_a_run_refuses_fails(rlk_fails, maker, field):
    broken = attrs.evolve(TINY, factory=answering(maker))
    check = "test_its_environments_return_what_gymnasium_says"
    error = f"WrongResult: environment 0 ({maker.__name__}) gave a wrong {field}"
    rlk_fails(testing.EnvironmentContract, TINY, broken, check, error, ids=("tiny/Walk-v0",))


def test_a_component_that_lists_what_it_does_not_resolve_fails(rlk_fails):
    good, broken = (
        attrs.evolve(TINY, factory=Knows(*names))
        for names in (("tiny/Walk-v0", "tiny/*"), ("tiny/Walk",))
    )
    check = "test_the_names_it_lists_for_messages_are_names_that_it_answers_to"
    rlk_fails(testing.EnvironmentContract, good, broken, check, ids=("tiny/Walk-v0",))
