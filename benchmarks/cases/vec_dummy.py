"""Eight CartPoles in one process as each library makes them to train on, with random actions."""

from __future__ import annotations

from cases._stepping import as_trained_with, stepped
from cases._training import Subject

LIBRARIES = ("rlk", "sb3", "gymnasium", "pufferlib")
TAKES_PLUGINS = False
WARM_UP, TIMED = 8_000, 160_000


def subject(library: str) -> Subject:
    return stepped(as_trained_with(library))
