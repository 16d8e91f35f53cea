"""Eight CartPoles in processes of their own, on two cores: what a step takes to be exchanged."""

from __future__ import annotations

from cases._stepping import cart_pole, in_several_processes, stepped
from cases._training import Subject

LIBRARIES = ("rlk", "sb3", "gymnasium", "pufferlib")
TAKES_PLUGINS = False
WARM_UP, TIMED = 8_000, 80_000
CORES = 2


def subject(library: str) -> Subject:
    return stepped(in_several_processes(library, cart_pole))
