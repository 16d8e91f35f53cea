"""Eight games of Pong in processes of their own, on two cores; observations are [4, 84, 84]."""

from __future__ import annotations

from typing import Any

from cases._stepping import in_several_processes, stepped
from cases._training import Subject, environment

LIBRARIES = ("rlk", "sb3", "gymnasium", "pufferlib")
TAKES_PLUGINS = False
WARM_UP, TIMED = 400, 4_000
CORES = 2


def pong() -> Any:
    """One game, with Gymnasium's preprocessing for all libraries alike."""
    import ale_py
    import gymnasium as gym

    gym.register_envs(ale_py)
    game = environment("ALE/Pong-v5", frameskip=1, repeat_action_probability=0.0)
    return gym.wrappers.FrameStackObservation(gym.wrappers.AtariPreprocessing(game), 4)


def subject(library: str) -> Subject:
    return stepped(in_several_processes(library, pong))
