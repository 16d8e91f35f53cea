"""Which keys of infos the methods of a goal environment read."""

import pickle
import subprocess
import sys

import gymnasium as gym
import numpy as np
import pytest

from rlk.errors import EnvironmentFailed
from rlk_baselines.environments.info_keys import keys_read
from rlk_baselines.environments.trial_info import KeyRead, TrialInfo

PLACE = gym.spaces.Box(-9, 9, (3,), np.float32)
GOALS = gym.spaces.Dict({"achieved_goal": PLACE, "desired_goal": PLACE})


def by_key(achieved, desired, info):
    return info["b"] + info["a"] + info["b"]


def by_get(achieved, desired, info):
    return info.get("a", 7.0) - info.get("b")


def by_membership(achieved, desired, info):
    return info["a"] if "b" in info and "a" in info else 0.0


def by_error(achieved, desired, info):
    try:
        return info["a"] + info["b"]
    except KeyError:
        return 0.0


def by_reaching(achieved, desired, info):
    return info["a"] if np.array_equal(achieved, desired) else info["b"]


def by_writing(achieved, desired, info):
    info["c"] = info["a"]
    return info["c"] / info["b"] + len(info["a"])


READERS = [by_key, by_get, by_membership, by_error, by_reaching, by_writing]


class Goals(gym.Env):
    def __init__(self, reward, terminated=None):
        self.compute_reward = reward
        if terminated is not None:
            self.compute_terminated = terminated


class Elsewhere:
    """A vector of environments in workers: arguments and exceptions arrive as copies."""

    num_envs = 1

    def __init__(self, env):
        self.unwrapped, self._env = self, env

    def call_at(self, indices, name, *given):
        method = getattr(self._env, name)
        try:
            return [method(*pickle.loads(pickle.dumps(given))) for _ in indices]
        except Exception as error:
            raise EnvironmentFailed("in a worker") from pickle.loads(pickle.dumps(error))


@pytest.mark.parametrize("where", [lambda env: env, Elsewhere])
@pytest.mark.parametrize("reward", READERS)
def test_keys_are_found_however_they_are_read_and_wherever_the_environment_is(reward, where):
    assert keys_read(where(Goals(reward)), GOALS) == ["a", "b"]


def test_what_the_end_of_an_episode_depends_on_is_found_too():
    ends = Goals(lambda *_: 0.0, lambda achieved, desired, info: info["is_success"])
    assert keys_read(ends, GOALS) == ["is_success"]


def test_a_method_that_counts_on_as_long_as_it_finds_keys_comes_to_an_end():
    def reward(achieved, desired, info):
        number = 0
        while number in info:
            number += 1
        return number

    assert keys_read(Goals(reward), GOALS) == list(range(100))


def test_nothing_is_read_where_there_is_no_reward_or_no_goal():
    assert keys_read(gym.Env(), GOALS) == keys_read(Goals(by_key), PLACE) == []


def test_keys_that_are_known_are_read_as_in_any_info():
    info = TrialInfo(a=0.5)
    assert (info["a"], info.get("a"), "a" in info) == (0.5, 0.5, True)
    with pytest.raises(KeyRead, match="b"):
        info.get("b", 1.0)


def test_a_worker_that_receives_a_trial_info_imports_no_torch():
    asked = "import pickle, sys; pickle.loads(%r); sys.exit('torch' in sys.modules)"
    command = [sys.executable, "-c", asked % pickle.dumps(TrialInfo(a=0.0))]
    assert subprocess.run(command, check=False).returncode == 0
