"""The contract of vector environments fails where one is broken."""

from __future__ import annotations

import multiprocessing
import threading
import time

import attrs
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import rlk_testing as testing
from rlk import spaces
from rlk.errors import EnvironmentFailed
from rlk_testing.stand_ins import COMPONENTS, StandInVecEnv


class ReusesArrays(StandInVecEnv):
    def __init__(self, env_fns, info_keys=()):
        super().__init__(env_fns, info_keys)
        self.copy = False


class SaysNextStep(StandInVecEnv):
    def __init__(self, env_fns):
        super().__init__(env_fns)
        self.metadata = {**self.metadata, "autoreset_mode": AutoresetMode.NEXT_STEP}


class IgnoresSeeds(StandInVecEnv):
    def reset(self, *, seed=None, options=None):
        return super().reset(options=options)


class SeedsAlike(StandInVecEnv):
    def reset(self, *, seed=None, options=None):
        return super().reset(seed=[seed] * self.num_envs if isinstance(seed, int) else seed)


class LosesFinals(StandInVecEnv):
    def step(self, actions):
        *rest, infos = super().step(actions)
        return (*rest, {k: v for k, v in infos.items() if "final_obs" not in k})


class MergesFlags(StandInVecEnv):
    def step(self, actions):
        observation, reward, terminated, truncated, infos = super().step(actions)
        return observation, reward, terminated | truncated, truncated, infos


class RoundsRewards(StandInVecEnv):
    def step(self, actions):
        observation, reward, *rest = super().step(actions)
        return (observation, reward * (1 + 5e-7), *rest)


class WidensObservations(StandInVecEnv):
    def step(self, actions):
        observation, *rest = super().step(actions)
        return (spaces.map_observation(lambda part: part.astype(np.float64), observation), *rest)


class AddsAKey(StandInVecEnv):
    def step(self, actions):
        observation, *rest = super().step(actions)
        if isinstance(observation, dict):
            observation = {**observation, "extra": np.zeros(self.num_envs)}
        return (observation, *rest)


class LeavesItsPipeOpen(StandInVecEnv):
    def __init__(self, env_fns):
        super().__init__(env_fns)
        self.pipe = multiprocessing.Pipe()


class HidesFailures(StandInVecEnv):
    def step(self, actions):
        try:
            return super().step(actions)
        except EnvironmentFailed:
            raise RuntimeError("something went wrong") from None


class SwallowsCtrlC(StandInVecEnv):
    def step(self, actions):
        try:
            return super().step(actions)
        except BaseException:
            return super().reset()


class LeavesItsThread(StandInVecEnv):
    def __init__(self, env_fns):
        super().__init__(env_fns)
        threading.Thread(target=time.sleep, args=(3.0,)).start()


class ClosesOnce(StandInVecEnv):
    def close(self, **keywords):
        assert not self.closed
        super().close(**keywords)


class NamesNoEnvironment(StandInVecEnv):
    """An error without the environment's number, its seed and its traceback."""

    def step(self, actions):
        try:
            return super().step(actions)
        except EnvironmentFailed as error:
            raise EnvironmentFailed(str(error.__cause__)) from error.__cause__


class EndsWithTheFirstFailure(StandInVecEnv):
    failed = False

    def reset(self, **keywords):
        assert not self.failed
        return super().reset(**keywords)

    def step(self, actions):
        self.failed = True
        result = super().step(actions)
        self.failed = False
        return result


class KeepsNothing(StandInVecEnv):
    """Takes `info_keys` and returns no `infos["kept"]`."""

    def step(self, actions):
        *rest, infos = super().step(actions)
        return (*rest, {key: value for key, value in infos.items() if key != "kept"})


class KeepsWhatTheResetSaid(StandInVecEnv):
    def _column(self, key, infos):
        return np.array(infos[key], np.float32)


class KeepsZero(StandInVecEnv):
    """Does not tell an info that is not there from a 0."""

    def _column(self, key, infos):
        return np.nan_to_num(super()._column(key, infos))


class KeepsFloat64(StandInVecEnv):
    def _column(self, key, infos):
        return super()._column(key, infos).astype(np.float64)


class ReusesRewards(StandInVecEnv):
    def step(self, actions):
        observation, self._rewards[:], *rest = super().step(actions)
        return (observation, self._rewards, *rest)


class ReusesFlags(StandInVecEnv):
    def step(self, actions):
        observation, reward, self._terminations[:], self._truncations[:], infos = super().step(
            actions
        )
        return observation, reward, self._terminations, self._truncations, infos


class DropsOptions(StandInVecEnv):
    def reset(self, *, seed=None, options=None):
        own = {key: value for key, value in (options or {}).items() if key == "reset_mask"}
        return super().reset(seed=seed, options=own)


class LeavesEnvironmentsOpen(StandInVecEnv):
    def close(self, **keywords):
        self.closed = True


class RendersNothing(StandInVecEnv):
    def render(self):
        return None


class SaysNoRenderMode(StandInVecEnv):
    def __init__(self, env_fns):
        super().__init__(env_fns)
        self.render_mode = None


class LosesItsState(StandInVecEnv):
    def set_state(self, states):
        pass


class TakesAnything(SyncVectorEnv):
    def __init__(self, env_fns):
        super().__init__(env_fns, autoreset_mode=AutoresetMode.SAME_STEP)


VEC_ENV = COMPONENTS["vec_envs"]
BIT_FOR_BIT = "test_any_sequence_of_actions_gives_what_a_plain_loop_gives_bit_for_bit"
KEPT = "test_what_is_kept_of_infos_is_of_the_step_and_not_of_the_reset_after_it"


class TestStandIn(testing.VecEnvContract):
    """What the faulty ones below are made of passes every check."""

    component = VEC_ENV


@pytest.mark.parametrize(
    ("factory", "check"),
    [
        (ReusesArrays, "test_arrays_stay_valid_during_the_next_step"),
        (SaysNextStep, "test_it_is_a_vector_env_that_restarts_episodes_in_the_same_step"),
        (IgnoresSeeds, "test_the_same_seeds_start_the_same_episodes"),
        (SeedsAlike, "test_one_seed_gives_every_environment_one_of_its_own"),
        (LosesFinals, BIT_FOR_BIT),
        (MergesFlags, BIT_FOR_BIT),
        (RoundsRewards, BIT_FOR_BIT),
        (WidensObservations, BIT_FOR_BIT),
        (AddsAKey, BIT_FOR_BIT),
        (LeavesItsPipeOpen, "test_closed_it_leaves_no_file_and_no_socket_open"),
        (HidesFailures, "test_an_environment_that_fails_is_reported_with_its_own_words"),
        (TakesAnything, "test_what_does_not_fit_is_refused_with_the_environment_and_the_field"),
        (SwallowsCtrlC, "test_ctrl_c_gets_through_a_step_that_hangs_and_it_can_be_closed_soon"),
        (LeavesItsThread, "test_ctrl_c_gets_through_a_step_that_hangs_and_it_can_be_closed_soon"),
        (
            NamesNoEnvironment,
            "test_what_an_environment_raises_comes_with_its_number_its_seed_and_its_traceback",
        ),
        (
            EndsWithTheFirstFailure,
            "test_it_goes_on_after_a_reset_when_an_environment_has_raised",
        ),
        (KeepsNothing, KEPT),
        (KeepsWhatTheResetSaid, KEPT),
        (KeepsFloat64, KEPT),
        (KeepsZero, "test_what_an_info_lacks_is_kept_as_nan"),
        (ReusesRewards, "test_arrays_stay_valid_during_the_next_step"),
        (ReusesFlags, "test_arrays_stay_valid_during_the_next_step"),
        (DropsOptions, "test_the_options_of_a_reset_get_to_the_environments_or_are_refused"),
        (LeavesEnvironmentsOpen, "test_closing_it_closes_every_environment"),
        (RendersNothing, "test_it_renders_a_frame_of_every_environment"),
        (SaysNoRenderMode, "test_it_renders_a_frame_of_every_environment"),
        (ClosesOnce, "test_it_can_be_closed_twice"),
        (LosesItsState, "test_its_state_if_it_has_one_is_plain_and_goes_on_where_it_was"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_broken_vector_environment_fails(rlk_fails, factory, check):
    rlk_fails(testing.VecEnvContract, VEC_ENV, attrs.evolve(VEC_ENV, factory=factory), check)
