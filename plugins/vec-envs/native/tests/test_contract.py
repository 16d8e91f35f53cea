"""The kernel's own checks, on vectorised walks in every restart mode."""

from __future__ import annotations

import gymnasium as gym
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from rlk.planning.environment import EnvChoice, MakeEnv
from rlk_gymnasium.made import ById
from rlk_testing import VecEnvContract
from rlk_testing.environments import Walk


class Walks(SyncVectorEnv):
    """Walks in the given restart mode."""

    def __init__(self, num_envs, autoreset_mode=AutoresetMode.NEXT_STEP, **keywords):
        super().__init__([lambda: Walk(**keywords)] * num_envs, autoreset_mode=autoreset_mode)


def next_step_walks(num_envs, **keywords):
    """Walks of Gymnasium's own class that restart in the next step."""
    return SyncVectorEnv([lambda: Walk(**keywords)] * num_envs)


class LeftAlone(Walks):
    """Walks that the user must restart."""

    def __init__(self, num_envs, **keywords):
        super().__init__(num_envs, autoreset_mode=AutoresetMode.DISABLED, **keywords)


for name, kind in (("Walks", Walks), ("NextStep", next_step_walks), ("LeftAlone", LeftAlone)):
    gym.register(f"rlk-test/{name}-v0", Walk, vector_entry_point=kind)


class TestNative(VecEnvContract):
    component = "native"
    takes_functions = False  # but an id that is registered
    id = "rlk-test/Walks-v0"

    def env(self, n_envs=None, info_keys=(), **keywords):
        kept = {} if info_keys == () else {"info_keys": info_keys}
        choice = EnvChoice(self.id, keywords, ById(self.id))
        return self.made_of([MakeEnv(choice)] * (n_envs or self.n_envs), **kept)


@pytest.mark.parametrize("name", ["NextStep", "LeftAlone"])
def test_the_other_modes_of_restarts_give_the_same_bits(name):
    suite = TestNative()
    suite.id = f"rlk-test/{name}-v0"
    suite.test_any_sequence_of_actions_gives_what_a_plain_loop_gives_bit_for_bit()
    suite.test_final_observations_are_copies_that_later_steps_leave_alone()
    suite.test_arrays_stay_valid_during_the_next_step()
    suite.test_what_is_kept_of_infos_is_of_the_step_and_not_of_the_reset_after_it()
    suite.test_the_options_of_a_reset_get_to_the_environments_or_are_refused()
