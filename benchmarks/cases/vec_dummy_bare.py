"""Eight CartPoles in one process, the same for all: what a backend adds to their steps."""

from __future__ import annotations

from cases._stepping import cart_pole, in_one_process, stepped
from cases._training import Subject

LIBRARIES = ("rlk", "sb3", "gymnasium", "pufferlib")
TAKES_PLUGINS = False
WARM_UP, TIMED = 8_000, 160_000


def subject(library: str) -> Subject:
    return stepped(in_one_process(library, cart_pole))
