"""A stand-in for EnvPool, with the interface recorded from EnvPool 1.2.5."""

from __future__ import annotations

import sys
from types import ModuleType

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector.utils import concatenate, create_empty_array

from rlk_testing.environments import Walk
from rlk_toy_environments.bit_flipping import BitFlippingEnv


class Lives(gym.Env):
    """A game of three lives, as those of Atari with `episodic_life`: observes lives and steps.

    Every second step loses a life, which ends an episode; the next one begins with those left.
    """

    observation_space = gym.spaces.MultiDiscrete([4, 3])
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.lives, self.steps = 3, 0
        return self._observation(), {}

    def restart(self):
        """Go on with the next life, or begin a new game after the last one."""
        if self.lives == 0:
            return self.reset()
        self.steps = 0
        return self._observation(), {}

    def step(self, action):
        self.steps += 1
        self.lives -= self.steps == 2
        return self._observation(), 1.0, self.steps == 2, False, {}

    def _observation(self):
        return np.array([self.lives, self.steps])


class Pool:
    """As `envpool.make_gymnasium` makes it; seeds are fixed when it is made.

    An environment whose episode ended is restarted in the next step, whatever its action is; one
    that has `restart` by that method, which differs from a reset. `reset(env_id)` and
    `step(actions, env_id)` take only those environments, and return only their rows.
    """

    metadata = {"render_modes": ["rgb_array"]}
    render_mode = None

    def __init__(self, kind, num_envs, num_threads=0, seed=42, **keywords):
        seeds = seed if isinstance(seed, list) else [seed + i for i in range(num_envs)]
        assert len(seeds) == num_envs and all(0 <= one < 2**31 for one in seeds)
        self.envs = [kind(**keywords) for _ in range(num_envs)]
        self.seeds, self.num_threads = list(seeds), num_threads
        self.observation_space = self.envs[0].observation_space
        self.action_space = self.envs[0].action_space
        self.ended = np.zeros(num_envs, bool)

    def reset(self, env_id=None):
        ids = np.arange(len(self.envs), dtype=np.int32) if env_id is None else env_id
        assert ids.dtype == np.int32
        results = [self._start(i) for i in ids.tolist()]
        self.ended[ids] = False
        return self._batch([one[0] for one in results]), self._infos(ids, [r[1] for r in results])

    def _start(self, i):
        seed, self.seeds[i] = self.seeds[i], None
        return self.envs[i].reset(seed=seed)

    def step(self, actions, env_id=None):
        ids = np.arange(len(self.envs), dtype=np.int32) if env_id is None else env_id
        assert ids.dtype == np.int32 and len(actions) == len(ids)
        results = [self._step(i, action) for i, action in zip(ids.tolist(), actions, strict=True)]
        observations, rewards, terminated, truncated, infos = zip(*results, strict=True)
        self.ended[ids] = np.array(terminated) | np.array(truncated)
        return (
            self._batch(list(observations)),
            np.array(rewards, np.float32),
            np.array(terminated),
            np.array(truncated),
            self._infos(ids, infos),
        )

    def _step(self, i, action):
        if not self.ended[i]:
            return self.envs[i].step(action)
        restart = getattr(self.envs[i], "restart", None)
        observation, info = restart() if restart else self._start(i)
        return observation, 0.0, False, False, info

    def render(self):
        return None

    def close(self):
        self.envs = []

    def _batch(self, observations):
        space = self.observation_space
        return concatenate(space, observations, create_empty_array(space, len(observations)))

    def _infos(self, ids, found):
        """EnvPool's infos are arrays with a row for each returned environment, without masks."""
        own = {"env_id": ids, "players": {"env_id": ids}}
        if not found[0]:
            return own
        return {**own, "elapsed_step": np.array([info["steps"] for info in found])}


@pytest.fixture(autouse=True)
def envpool(monkeypatch):
    """The stand-in as the module `envpool`, with three tasks."""
    module = ModuleType("envpool")
    tasks = {"Walk-v0": Walk, "Bits-v0": BitFlippingEnv, "Lives-v0": Lives}

    def make_gymnasium(task_id, **keywords):
        assert task_id in tasks, f"{task_id} is not supported, list_all_envs() may help."
        return Pool(tasks[task_id], **keywords)

    module.make_gymnasium = make_gymnasium
    monkeypatch.setitem(sys.modules, "envpool", module)
    return module
