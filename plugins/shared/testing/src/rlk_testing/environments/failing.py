"""An environment that fails in the way its action asks for, to test vector environments."""

from __future__ import annotations

import os
import signal
import sys
import time
from enum import IntEnum
from typing import Any

import gymnasium as gym
import numpy as np

from rlk.records import Array

#: Methods in which it can be told to raise.
METHODS = ("__init__", "reset", "step", "render")


class Fate(IntEnum):
    """What an action causes."""

    GO = 0  #: an ordinary step
    RAISE = 1  #: an exception
    KILL = 2  #: its process ends by SIGKILL
    EXIT = 3  #: its process ends by `os._exit(7)`
    HANG = 4  #: a step that does not return
    LEAVE_CHILD = 5  #: its process exits with code 9, while a child of it lives on for seconds
    SYS_EXIT = 6  #: `sys.exit(5)`
    END = 7  #: the end of the episode


class Doomed(gym.Env[Any, Any]):
    """The action says what happens (`Fate`); the observation is the number of steps so far.

    Args:
        raises_in: one of `METHODS`; it always raises.
        note: a file to write a line to when the environment is closed.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"]}  # noqa: RUF012
    observation_space = gym.spaces.Box(0.0, 1e6, (1,), np.float32)
    action_space = gym.spaces.Discrete(len(Fate))

    def __init__(
        self, raises_in: str = "", note: str = "", render_mode: str | None = "rgb_array"
    ) -> None:
        self.raises_in, self.note, self.render_mode = raises_in, note, render_mode
        self.steps = 0
        self._raise_in("__init__")

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        super().reset(seed=seed)
        self._raise_in("reset")
        self.steps = 0
        return self._observation(), {}

    def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        self._raise_in("step")
        self.steps += 1
        if action == Fate.RAISE:
            raise OSError("the simulator is gone")
        if action == Fate.KILL:
            os.kill(os.getpid(), signal.SIGKILL)
        if action == Fate.EXIT:
            os._exit(7)
        if action == Fate.SYS_EXIT:
            sys.exit(5)
        if action == Fate.HANG:
            time.sleep(1000)
        if action == Fate.LEAVE_CHILD:  # the child inherits open files and pipes
            if os.fork() == 0:
                time.sleep(2.5)
                os._exit(0)
            os._exit(9)
        return self._observation(), 1.0, bool(action == Fate.END), False, {"steps": self.steps}

    def render(self) -> Any:
        self._raise_in("render")
        return np.full((4, 4, 3), self.steps, np.uint8)

    def close(self) -> None:
        if self.note:
            with open(self.note, "a") as note:
                note.write("closed\n")

    def _observation(self) -> Array:
        return np.array([self.steps], np.float32)

    def _raise_in(self, method: str) -> None:
        if self.raises_in == method:
            raise OSError(f"told to raise in {method}")
