"""The contract of vector environments fails where spaces, results, seeds or calls are broken."""

from __future__ import annotations

import random

import attrs
import gymnasium as gym
import numpy as np
import pytest

import rlk_testing as testing
from rlk_testing.stand_ins import COMPONENTS, StandInVecEnv


class SaysAnotherSpace(StandInVecEnv):
    def __init__(self, env_fns):
        super().__init__(env_fns)
        self.single_observation_space = gym.spaces.Box(-5.0, 5.0, (3,), np.float32)


class ReusesFinals(StandInVecEnv):
    def step(self, actions):
        *rest, infos = super().step(actions)
        self.finals = getattr(self, "finals", np.zeros((self.num_envs, 3), np.float32))
        for i in np.flatnonzero(infos.get("_final_obs", [])):
            self.finals[i] = infos["final_obs"][i]
            infos["final_obs"][i] = self.finals[i]
        return (*rest, infos)


class ReusesTheDict(StandInVecEnv):
    """Of observations; the arrays in it are new."""

    def reset(self, **keywords):
        observation, infos = super().reset(**keywords)
        return self.in_the_dict(observation), infos

    def step(self, actions):
        observation, *rest = super().step(actions)
        return (self.in_the_dict(observation), *rest)

    def in_the_dict(self, observation):
        if not isinstance(observation, dict):
            return observation
        self.given = getattr(self, "given", {})
        self.given.update(observation)
        return self.given


class GivesColumns(StandInVecEnv):
    def step(self, actions):
        observation, reward, *rest = super().step(actions)
        return (observation, reward[:, None], *rest)


class GivesFlagsAsNumbers(StandInVecEnv):
    def step(self, actions):
        observation, reward, terminated, *rest = super().step(actions)
        return (observation, reward, terminated.astype(np.float32), *rest)


class AlwaysSaysSomething(StandInVecEnv):
    def step(self, actions):
        *rest, infos = super().step(actions)
        return (*rest, {**infos, "seconds": np.zeros(self.num_envs)})


class ClipsActionsInPlace(StandInVecEnv):
    def step(self, actions):
        if actions.dtype == np.float32:
            np.clip(actions, -0.1, 0.1, out=actions)
        return super().step(actions)


class KeepsItsSeeds(StandInVecEnv):
    seeds = None

    def reset(self, *, seed=None, options=None):
        self.seeds = self.seeds if seed is None else seed
        return super().reset(seed=self.seeds, options=options)


class DrawsGlobally(StandInVecEnv):
    def step(self, actions):
        random.random()
        return super().step(actions)


class SqueezesOne(StandInVecEnv):
    def reset(self, **keywords):
        observation, infos = super().reset(**keywords)
        return observation[0] if self.num_envs == 1 else observation, infos


class CallsTheFirst(StandInVecEnv):
    def call(self, name, *arguments, **keywords):
        return super().call(name, *arguments, **keywords)[:1]


class CallsWithoutKeywords(StandInVecEnv):
    def call(self, name, *arguments, **keywords):
        return super().call(name, *arguments)


class SetsOneForAll(StandInVecEnv):
    def set_attr(self, name, values):
        first = values[0] if isinstance(values, list) else values
        super().set_attr(name, [first] * self.num_envs)


class ExchangesFlagsOnceRestored(StandInVecEnv):
    restored = False

    def set_state(self, states):
        super().set_state(states)
        self.restored = True

    def step(self, actions):
        observation, reward, terminated, truncated, infos = super().step(actions)
        flags = (truncated, terminated) if self.restored else (terminated, truncated)
        return observation, reward, *flags, infos


class LosesFinalsOnceRestored(ExchangesFlagsOnceRestored):
    def step(self, actions):
        result = StandInVecEnv.step(self, actions)
        return (*result[:4], {}) if self.restored else result


class HasOldNames(StandInVecEnv):
    """Good: also has the names of Stable Baselines, and chooses environments by `indices`."""

    def chosen(self, indices):
        return self.envs if indices is None else [self.envs[i] for i in indices]

    def get_attr(self, name, indices=None):
        return tuple(env.get_wrapper_attr(name) for env in self.chosen(indices))

    def set_attr(self, name, values, indices=None):
        chosen = self.chosen(indices)
        each = values if isinstance(values, list) else [values] * len(chosen)
        for env, value in zip(chosen, each, strict=True):
            env.set_wrapper_attr(name, value)

    def env_method(self, name, *arguments, indices=None, **keywords):
        chosen = self.chosen(indices)
        return [env.get_wrapper_attr(name)(*arguments, **keywords) for env in chosen]

    def get_images(self):
        return list(self.render())


class AsksAllByOldNames(HasOldNames):
    def env_method(self, name, *arguments, indices=None, **keywords):
        return super().env_method(name, *arguments, **keywords)


class FilmsTheFirst(HasOldNames):
    def get_images(self):
        return super().get_images()[:1]


VEC_ENV = COMPONENTS["vec_envs"]
RESULTS = "test_rewards_and_flags_are_arrays_with_one_number_for_each"
CALL = "test_call_reaches_a_method_of_every_environment"
STATE = "test_its_state_if_it_has_one_is_plain_and_goes_on_where_it_was"


@pytest.mark.parametrize(
    ("factory", "check"),
    [
        (SaysAnotherSpace, "test_it_has_the_spaces_of_one_environment_and_of_all"),
        (ReusesFinals, "test_final_observations_are_copies_that_later_steps_leave_alone"),
        (ReusesTheDict, "test_a_caller_may_add_keys_to_the_dict_of_an_observation"),
        (GivesColumns, RESULTS),
        (GivesFlagsAsNumbers, RESULTS),
        (
            AlwaysSaysSomething,
            "test_infos_are_empty_where_no_episode_ended_and_no_environment_says_anything",
        ),
        (ClipsActionsInPlace, "test_the_actions_that_it_was_given_are_not_written_to"),
        (KeepsItsSeeds, "test_a_reset_without_a_seed_draws_on"),
        (DrawsGlobally, "test_it_draws_from_no_global_generator"),
        (SqueezesOne, "test_one_environment_is_enough"),
        (CallsTheFirst, CALL),
        (CallsWithoutKeywords, CALL),
        (SetsOneForAll, "test_get_attr_and_set_attr_reach_every_environment"),
        (ExchangesFlagsOnceRestored, STATE),
        (LosesFinalsOnceRestored, STATE),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_vector_environment_with_a_broken_interface_fails(rlk_fails, factory, check):
    rlk_fails(testing.VecEnvContract, VEC_ENV, attrs.evolve(VEC_ENV, factory=factory), check)


@pytest.mark.parametrize("factory", [AsksAllByOldNames, FilmsTheFirst])
def test_a_vector_environment_with_wrong_names_of_stable_baselines_fails(rlk_fails, factory):
    good, broken = (attrs.evolve(VEC_ENV, factory=one) for one in (HasOldNames, factory))
    check = "test_environments_are_reached_by_the_names_of_stable_baselines_too"
    rlk_fails(testing.VecEnvContract, good, broken, check)


# ---- a step in two halves ------------------------------------------------------------------------


class InHalves(StandInVecEnv):
    """Good: has `step_async` and `step_wait`, too."""

    def step_async(self, actions):
        self.actions = actions

    def step_wait(self):
        return super().step(self.actions)


class WaitsForNoRewards(InHalves):
    def step_wait(self):
        observation, reward, *rest = super().step_wait()
        return (observation, reward * 0, *rest)


class WaitsForExchangedFlags(InHalves):
    def step_wait(self):
        observation, reward, terminated, truncated, infos = super().step_wait()
        return observation, reward, truncated, terminated, infos


class WaitsForNoFinals(InHalves):
    def step_wait(self):
        return (*super().step_wait()[:4], {})


@pytest.mark.parametrize("factory", [WaitsForNoRewards, WaitsForExchangedFlags, WaitsForNoFinals])
def test_a_vector_environment_whose_halves_are_not_its_step_fails(rlk_fails, factory):
    good, broken = (attrs.evolve(VEC_ENV, factory=one) for one in (InHalves, factory))
    check = "test_step_async_and_step_wait_are_the_two_halves_of_step"
    rlk_fails(testing.VecEnvContract, good, broken, check)
