"""The contract of a wrapper fails where calls do not pass through it as they should."""

from __future__ import annotations

import attrs
import gymnasium as gym
import numpy as np
import pytest

import rlk_testing as testing
from rlk.component import Component


class Limits(gym.Wrapper):
    """Good: halves observations, and truncates episodes after five steps."""

    count = 0

    def reset(self, *, seed=None, options=None):
        self.count = 0
        observation, info = self.env.reset(seed=seed, options=options)
        return self.halved(observation), info

    def step(self, action):
        observation, reward, terminated, truncated, info = self.env.step(action)
        self.count += 1
        return self.halved(observation), reward, terminated, truncated or self.count >= 5, info

    def halved(self, observation):
        return observation * np.float32(0.5)


class LimitTerminates(Limits):
    def step(self, action):
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, reward, terminated or truncated, False, info


class TerminationTruncates(Limits):
    def step(self, action):
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, reward, False, terminated or truncated, info


class HalvesInPlace(Limits):
    def halved(self, observation):
        observation *= 0.5
        return observation


class ReusesItsArray(Limits):
    def __init__(self, env):
        super().__init__(env)
        self.array = np.zeros(3, np.float32)

    def halved(self, observation):
        return np.multiply(observation, 0.5, out=self.array)


class DropsInfos(Limits):
    def step(self, action):
        return (*super().step(action)[:4], {})


class DropsTheInfoOfResets(Limits):
    def reset(self, *, seed=None, options=None):
        return super().reset(seed=seed, options=options)[0], {}


class GivesTheInfoBefore(Limits):
    last = None

    def step(self, action):
        *result, info = super().step(action)
        self.last, before = info, self.last or info
        return (*result, before)


class DropsOptions(Limits):
    def reset(self, *, seed=None, options=None):
        return super().reset(seed=seed)


class HalvesRewards(Limits):
    def step(self, action):
        observation, reward, *rest = super().step(action)
        return observation, 0.5 * reward, *rest


class HidesMethods(Limits):
    def get_wrapper_attr(self, name):
        return getattr(self, name, None) or (lambda: None)


class IsTheInnermost(Limits):
    @property
    def unwrapped(self):
        return self


class SavesNoCount(Limits):
    """Where it goes on is part of its state."""

    def get_state(self):
        return {}

    def set_state(self, state):
        self.count = 0


LIMITS = Component(name="limits", factory=Limits, summary="halves and limits", keeps_returns=True)


@pytest.mark.parametrize(
    ("factory", "check"),
    [
        (LimitTerminates, "test_it_keeps_terminated_and_truncated_apart"),
        (TerminationTruncates, "test_it_keeps_terminated_and_truncated_apart"),
        (HalvesInPlace, "test_it_writes_nothing_into_the_observations_of_the_environment"),
        (ReusesItsArray, "test_an_observation_stays_as_it_is_while_the_next_ones_are_made"),
        (DropsInfos, "test_it_hands_on_what_the_environment_says_in_its_infos"),
        (DropsTheInfoOfResets, "test_it_hands_on_what_the_environment_says_in_its_infos"),
        (GivesTheInfoBefore, "test_it_hands_on_what_the_environment_says_in_its_infos"),
        (DropsOptions, "test_options_of_a_reset_reach_the_environment"),
        (HalvesRewards, "test_it_keeps_returns_or_reports_them"),
        (HidesMethods, "test_methods_of_the_environment_are_reached_through_it"),
        (SavesNoCount, "test_its_state_goes_on_where_it_was_or_is_refused"),
        (IsTheInnermost, "test_one_environment_stays_an_environment"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_wrapper_of_one_environment_that_hands_on_too_little_fails(rlk_fails, factory, check):
    broken = attrs.evolve(LIMITS, factory=factory)
    rlk_fails(testing.WrapperContract, LIMITS, broken, check)


class PlaysItself(Limits):
    """Good, but its steps are not the environment's."""

    def step(self, action):
        self.count += 1
        place = self.env.unwrapped.place + np.float32(self.np_random.normal())
        return self.halved(place), 0.0, False, self.count >= 5, {}


def test_a_wrapper_that_never_steps_what_it_wraps_has_to_say_so(rlk_verdict):
    check = "test_it_writes_nothing_into_the_observations_of_the_environment"
    plays = {"component": attrs.evolve(LIMITS, factory=PlaysItself)}
    silent = type("Suite", (testing.WrapperContract,), plays)
    assert "set `steps_inside = False` in its suite" in rlk_verdict(silent, check)
    saying = type("Suite", (testing.WrapperContract,), {**plays, "steps_inside": False})
    assert rlk_verdict(saying, check) == "does not apply"


def test_the_vectors_of_a_check_are_closed_after_it():
    made = []

    class Suite(testing.WrapperContract):
        component = LIMITS

        def around_one(self):
            made.append(super().around_one())
            return made[-1]

    Suite().test_its_state_goes_on_where_it_was_or_is_refused()
    assert made and all(env.unwrapped.closed for env in made)
