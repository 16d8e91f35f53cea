"""A maze: an environment of one's own, with action masks, successes and a time limit."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

#: Up, right, down and left, as changes of row and column.
MOVES = np.array([(-1, 0), (0, 1), (1, 0), (0, -1)])


class Maze(gym.Env[Any, Any]):
    """From a random place to the lower right corner, in at most 4 * size steps.

    Args:
        size: rows and columns.
        wall: the reward of a step into a wall.
        render_mode: "rgb_array" for films and windows.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 5}

    def __init__(self, size: int = 5, wall: float = -0.1, render_mode: str | None = None) -> None:
        self.render_mode = render_mode
        self.observation_space = gym.spaces.MultiDiscrete([size, size])
        self.action_space = gym.spaces.Discrete(4)
        self.size, self.wall = size, wall
        self.place, self.steps = np.zeros(2, np.int64), 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.place, self.steps = self.np_random.integers(0, self.size - 1, 2), 0
        return self.place.copy(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        is_open = self.action_masks()[action]
        if is_open:
            self.place = self.place + MOVES[action]
        self.steps += 1
        arrived = bool((self.place == self.size - 1).all())
        reward = 1.0 if arrived else (-0.01 if is_open else self.wall)
        # A time limit truncates: the state after it still has value, and learning knows that.
        truncated = not arrived and self.steps == 4 * self.size
        return self.place.copy(), reward, arrived, truncated, {"is_success": arrived}

    def action_masks(self) -> Any:
        """Which moves stay inside, bool [4]; only the plugin action-masking asks."""
        after = self.place + MOVES
        return ((after >= 0) & (after < self.size)).all(1)

    def render(self) -> Any:
        """Black, with the goal in green and the agent in white, uint8 [32 size, 32 size, 3]."""
        image = np.zeros((self.size, self.size, 3), np.uint8)
        image[-1, -1] = 0, 160, 0
        image[tuple(self.place)] = 255
        return image.repeat(32, 0).repeat(32, 1)
