"""An environment that makes trouble on rank 1, at a step or before it is made."""

from __future__ import annotations

import os
import signal

from rlk_testing.environments import DiscreteMatch

LAUNCHERS = ("PMI_RANK", "OMPI_COMM_WORLD_RANK", "RANK")
RANK = int(next((os.environ[name] for name in LAUNCHERS if name in os.environ), "0"))


class Trouble(DiscreteMatch):
    """`what` happens at step `at` of an environment of rank 1."""

    made = 0

    def __init__(self, what="", at=40, **keywords):
        super().__init__(**keywords)
        self.what, self.at = what, at
        Trouble.made += 1
        # The first is made to look at its spaces.
        if RANK == 1 and what in ("refuse", "build") and Trouble.made == 1 + (what == "build"):
            raise RuntimeError("no such hardware")

    def step(self, action):
        result = super().step(action)
        if RANK == 1 and self.ever == self.at:
            if self.what == "raise":
                raise RuntimeError("the sensor came off")
            if self.what == "no-number":
                return (result[0], float("nan"), *result[2:])
            if self.what == "exit":
                raise SystemExit(7)
            if self.what in ("SIGKILL", "SIGINT", "SIGTERM"):
                os.kill(os.getpid(), signal.Signals[self.what])
        return result
