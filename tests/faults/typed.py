"""Commands that a user types in the first hour, and their arguments."""

from __future__ import annotations

#: An environment in a file of the user's own, which also registers an id.
MAZE = """
import gymnasium as gym
from rlk_testing.environments import DiscreteMatch

class Maze(DiscreteMatch):
    pass

class Cave(Maze):
    pass

gym.register("RlkMaze-v0", entry_point=Maze)
"""
#: Arguments of a short run.
SMALL = {"n_steps": 8, "nminibatches": 1, "noptepochs": 1, "n_threads": 1, "total_timesteps": 16}
TYPED = ["--preset", "none", "--timesteps", 16]
TYPED += [word for key in list(SMALL)[:-1] for word in ("--set", f"{key}={SMALL[key]}")]
