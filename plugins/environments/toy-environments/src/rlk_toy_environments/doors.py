"""A row of rooms with many doors, of which two are open in each room: an example for action masks.

One open door leads forward, the other one back. With a mask of the open doors, a random walk finds
the way out; without it, an agent wastes most of its steps at closed doors.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from rlk.records import Array


class DoorsEnv(gym.Env[Any, Any]):
    """The observation is the number of the room, the action the number of a door.

    The reward is -1 for every step. An episode terminates at the exit of the last room and is
    truncated after `max_steps`; the best return is -`n_rooms`.

    Args:
        n_rooms: rooms in a row (1 or more); the way back from the first one leads to itself.
        n_doors: doors of each room (2 or more).
        building: random seed that determines which doors are open, in all episodes.
        max_steps: steps until an episode is truncated (1 or more).
        refuse: whether a closed door raises ValueError, as in many environments with masks; if not,
            the agent stays in its room.
    """

    def __init__(
        self,
        n_rooms: int = 8,
        n_doors: int = 16,
        building: int = 0,
        max_steps: int = 100,
        refuse: bool = True,
    ) -> None:
        if n_rooms < 1 or n_doors < 2 or max_steps < 1:
            raise ValueError(
                "n_rooms and max_steps must be 1 or more and n_doors 2 or more, got "
                f"{n_rooms}, {max_steps} and {n_doors}"
            )
        self.n_doors = n_doors
        self.observation_space = spaces.Discrete(n_rooms)
        self.action_space = spaces.Discrete(n_doors)
        self.max_steps, self.refuse = max_steps, refuse
        drawn = np.random.default_rng(building)
        pairs = [drawn.choice(n_doors, 2, replace=False) for _ in range(n_rooms)]
        #: The doors that lead forward, and those that lead back, by room.
        self.on, self.back = [[int(pair[which]) for pair in pairs] for which in (0, 1)]
        self.room = self.steps = 0

    def action_masks(self) -> Array:
        """Which doors of this room are open, bool [n_doors]."""
        mask: Array = np.zeros(self.n_doors, np.bool_)
        mask[[self.on[self.room], self.back[self.room]]] = True
        return mask

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin in the first room."""
        super().reset(seed=seed)
        self.room = self.steps = 0
        return np.int64(self.room), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Go through a door.

        Raises:
            ValueError: if it is closed and `refuse` is set.
        """
        self.steps += 1
        is_out = False
        if action == self.on[self.room]:
            is_out = self.room == len(self.on) - 1
            self.room += not is_out
        elif action == self.back[self.room]:
            self.room = max(self.room - 1, 0)
        elif self.refuse:
            raise ValueError(f"door {action} of room {self.room} is closed")
        is_late = self.steps >= self.max_steps
        return np.int64(self.room), -1.0, is_out, is_late and not is_out, {}
