"""A class that is defined in a notebook: it is in no file that another process could import."""

from __future__ import annotations

import pytest

CELLS = '''
import numpy as np
import gymnasium as gym
import rlk

class Corridor:
    """No subclass of anything: it has what Gymnasium's environments have."""

    metadata, render_mode, spec = {}, None, None
    observation_space = gym.spaces.Box(0.0, 9.0, (1,), np.float32)
    action_space = gym.spaces.Discrete(2)

    @property
    def unwrapped(self):
        return self

    def reset(self, *, seed=None, options=None):
        self.place, self.steps = 5, 0
        return np.float32([self.place]), {}

    def step(self, action):
        self.place, self.steps = self.place + 2 * int(action) - 1, self.steps + 1
        at_end = self.place in (0, 9)
        reward = float(self.place == 9)
        return np.float32([self.place]), reward, at_end, self.steps == 50, {}

    def close(self):
        pass

small = {"n_envs": 2, "n_steps": 32, "n_threads": 1, "seed": 1}
with rlk.make("ppo2", env=Corridor, vec_env="subprocess", **small) as agent:
    agent.learn(TIMESTEPS)
    action, _ = agent.predict(Corridor().reset()[0])
    returns = [return_ for return_, _ in agent.run.metrics.recent_episodes]
    print("mean return", sum(returns) / len(returns), "action", int(action))
'''
#: Runs the cells as a notebook does: as `__main__`, which has no file.
KERNEL = """
import sys

main = vars(sys.modules["__main__"])
del main["__file__"]
exec(compile(open(sys.argv[1]).read(), "<cell>", "exec"), main)
"""


def ran(forks, folder, timesteps):
    """The output of the cells."""
    cells, kernel = folder / "cells.txt", folder / "kernel.py"
    cells.write_text(f"TIMESTEPS = {timesteps}\n{CELLS}")
    kernel.write_text(KERNEL)
    with forks.start(kernel, cells, cwd=folder) as running:
        printed, _ = running.communicate(timeout=240)
    assert running.returncode == 0, printed
    return printed


def test_it_is_trained_in_by_workers(rlk_forks, tmp_path):
    assert "mean return" in ran(rlk_forks, tmp_path, 256)


@pytest.mark.real_input
def test_it_is_learnt(rlk_forks, tmp_path):
    printed = ran(rlk_forks, tmp_path, 20_000)
    words = printed.split()
    assert float(words[words.index("return") + 1]) > 0.95 and words[-1] == "1"
