"""A job in which something ends or hangs, as the argument says. It imports no torch."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import gymnasium as gym
import numpy as np

#: The file for rank 0's stderr with the argument `kill`.
SAID = Path("said.txt")
#: Lets the launcher continue when rank 0 has said which rank died, or after 30 s.
LETS_GO = f"for i in $(seq 600); do grep -q died {SAID} && break; sleep 0.05; done; kill -CONT $0"


class Raises(gym.Env):
    """Raises an exception in its tenth step."""

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
    """Has no fault."""

    def trouble(self):
        pass


class SlowToClose(Fine):
    """Takes a second to close."""

    def close(self):
        time.sleep(1.0)
        print("closed", flush=True)


class Troubled(Raises):
    """Has the fault that the argument of the job names."""

    def trouble(self):
        if sys.argv[1] == "kill":
            launcher = os.getppid()
            subprocess.Popen(["sh", "-c", LETS_GO, str(launcher)])
            # A launcher that notices the death first would kill rank 0 before rank 0 can report it.
            os.kill(launcher, signal.SIGSTOP)
            os.kill(os.getpid(), signal.SIGKILL)
        elif sys.argv[1] == "hang":
            time.sleep(1000)
        elif sys.argv[1] == "exit":
            sys.exit(7)


def close_slowly():
    """Ends while a rank closes the environment of one vector; another vector is open."""
    from rlk_mpi_workers import MpiWorkersVecEnv, learner

    learner._LEAVE_SECONDS = 0.3
    first, _ = MpiWorkersVecEnv([SlowToClose]), MpiWorkersVecEnv([SlowToClose])
    first.close(timeout=0.1)
    print("the program has ended", flush=True)


def main():
    from rlk_mpi.extension import LAUNCH
    from rlk_mpi_workers import MpiWorkersVecEnv, host

    rank = LAUNCH.enter().ranks.rank
    print(f"rank {rank} is process {os.getpid()}", flush=True)
    if rank != 0:
        sys.exit(host())
    if sys.argv[1] == "close":
        close_slowly()
        return
    if sys.argv[1] == "kill":
        os.dup2(os.open(SAID, os.O_WRONLY | os.O_CREAT), 2)
    seconds = 1.0 if sys.argv[1] == "hang" else None
    vector = MpiWorkersVecEnv([Fine, Troubled], timeout_seconds=seconds)
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
