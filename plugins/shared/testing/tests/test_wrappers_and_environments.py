"""Contracts of wrappers, environments and finders fail where a component is broken."""

from __future__ import annotations

import sys

import attrs
import gymnasium as gym
import numpy as np
import pytest

import rlk_testing as testing
from rlk.component import Component
from rlk.registry.kernel import Kernel
from rlk_testing.environments import Walk

#: What a function within another raises where it is pickled.
UNPICKLABLE = "AttributeError" if sys.version_info < (3, 14) else "PicklingError"


class Halves(gym.RewardWrapper):
    """Good: every reward is half of what it was."""

    def reward(self, reward):
        return 0.5 * float(reward)


class LeavesItsSpace(gym.ObservationWrapper):
    def observation(self, observation):
        return observation.astype(np.float64).reshape(1, 3)


class JittersGlobally(gym.ObservationWrapper):
    def observation(self, observation):
        return observation + np.float32(np.random.random())


class StaysOpen(Halves):
    def close(self):
        pass


class PrintsAlways(Halves):
    def reward(self, reward):
        print(reward)
        return super().reward(reward)


WRAPPER = Component(name="halves", factory=Halves, summary="halves rewards")


@pytest.mark.parametrize(
    ("factory", "check"),
    [
        (LeavesItsSpace, "test_observations_are_in_its_observation_space"),
        (JittersGlobally, "test_one_seed_gives_one_series"),
        (StaysOpen, "test_closing_it_closes_the_environment"),
        (PrintsAlways, "test_a_run_that_says_nothing_says_nothing_with_it"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_broken_wrapper_fails(rlk_fails, factory, check):
    broken = attrs.evolve(WRAPPER, factory=factory)
    rlk_fails(testing.WrapperContract, WRAPPER, broken, check)


def answers(env):
    return Walk if env.startswith("tiny/") else None


@pytest.mark.parametrize(
    ("factory", "check", "error"),
    [
        (lambda env: Walk, "test_it_answers_none_to_the_environments_of_others", ""),
        (
            lambda env: "Walk" if "tiny" in env else None,
            "test_it_answers_with_what_makes_the_environment",
            "",
        ),
        (
            lambda env: (lambda: Walk()) if "tiny" in env else None,
            "test_what_it_answers_travels_to_a_worker_and_imports_no_torch_there",
            f"{UNPICKLABLE}: Can't pickle local object",
        ),
        (
            lambda env: list if "tiny" in env else None,
            "test_every_name_that_it_answers_to_is_made",
            "",
        ),
    ],
)
def test_a_broken_environment_component_fails(rlk_fails, factory, check, error):
    good = Component(name="tiny", factory=answers, summary="tiny environments")
    broken = attrs.evolve(good, factory=factory)
    rlk_fails(testing.EnvironmentContract, good, broken, check, error, ids=("tiny/Walk-v0",))


def finds(place, kind=None):
    mine = Component(name="mine", factory=Walk, kind=kind or "wrappers")
    return mine if place == "shelf:mine" else None


def finds_if_told_the_kind(place, kind=None):
    return None if kind is None else finds(place, kind)


def finds_anything(place, kind=None):
    return Component(name="anything", factory=Walk, kind=kind or "wrappers")


def test_a_finder_that_does_not_answer_a_run_fails(rlk_fails):
    good = Component(name="shelf", factory=finds, summary="a shelf")
    broken = attrs.evolve(good, factory=finds_if_told_the_kind)

    def kernel(suite):
        """One in which another finder is asked after the suite's."""
        made = Kernel(discover=False)
        made.registries.finders.register("shelf", suite.component)
        runs = Component(name="runs", factory=finds_anything, summary="any", runs_code=True)
        made.registries.finders.register("runs", runs)
        return made

    check, given = "test_a_run_that_names_its_places_finds_them_by_it", {"places": ("shelf:mine",)}
    rlk_fails(testing.FinderContract, good, broken, check, kernel=kernel, **given)


@pytest.mark.parametrize(
    ("factory", "check"),
    [
        (
            lambda place, kind=None: Component(name="mine", factory=Walk, kind="wrappers"),
            "test_what_it_does_not_know_is_refused_or_left_to_others",
        ),
        (
            lambda place, kind=None: Walk if "shelf" in place else None,
            "test_what_it_finds_is_a_component_that_says_its_kind",
        ),
    ],
)
def test_a_broken_finder_fails(rlk_fails, factory, check):
    good = Component(name="shelf", factory=finds, summary="a shelf")
    broken = attrs.evolve(good, factory=factory)
    rlk_fails(testing.FinderContract, good, broken, check, places=("shelf:mine",))
