"""A job of which something ends or hangs; the argument says what. It imports no torch."""

from __future__ import annotations

import os
import signal
import sys
import time

import gymnasium as gym
import numpy as np


class Raises(gym.Env):
    """Raises in its tenth step."""

    observation_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)
    action_space = gym.spaces.Discrete(2)
    steps = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.zeros(1, np.float32), {}

    def step(self, action):
        self.steps += 1
        if self.steps == 10:
            self.trouble()
        return np.zeros(1, np.float32), 0.0, False, False, {}

    def trouble(self):
        raise RuntimeError("the sensor came off")


class Fine(Raises):
    """No trouble at all."""

    def trouble(self):
        pass


class Troubled(Raises):
    """Makes the trouble that the job is told to make."""

    def trouble(self):
        if sys.argv[1] == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif sys.argv[1] == "hang":
            time.sleep(1000)
        elif sys.argv[1] == "exit":
            sys.exit(7)


def main():
    from rlk_mpi.extension import LAUNCH
    from rlk_mpi_workers import MpiWorkersVecEnv, host

    rank = LAUNCH.enter().ranks.rank
    print(f"rank {rank} is process {os.getpid()}", flush=True)
    if rank != 0:
        sys.exit(host())
    vector = MpiWorkersVecEnv([Fine, Troubled], timeout_seconds=1.0)
    vector.reset()
    for _ in range(20):
        vector.step(np.zeros(2, np.int64))
    if sys.argv[1] == "learner raises":
        raise KeyError("mine")
    if sys.argv[1] == "learner exits":
        sys.exit(5)
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main()
