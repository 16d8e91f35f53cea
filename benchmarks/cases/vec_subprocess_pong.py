"""Eight games of Pong in processes of their own, on two cores; observations are [4, 84, 84]."""

from __future__ import annotations

from cases._stepping import in_several_processes, stepped
from cases.ppo_pong import pong
from cases.training import Trained

LIBRARIES = ("rlk", "sb3", "gymnasium")
WARM_UP, TIMED = 400, 4_000
CORES = 2


def subject(library: str) -> Trained:
    return stepped(in_several_processes(library, pong))
