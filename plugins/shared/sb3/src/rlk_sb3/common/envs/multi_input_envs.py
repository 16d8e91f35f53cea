"""`SimpleMultiObsEnv`: a walk around a grid, observed as a vector and an image."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from rlk.records import Array

#: Rows and columns that an action moves by: left, down, right, up.
_MOVES = ((0, -1), (1, 0), (0, 1), (-1, 0))
_NAMES = ("left", "down", "right", "up")
#: Steps after which an episode is truncated.
_LIMIT = 100
_VECTOR, _PIXELS = 5, 64


class SimpleMultiObsEnv(gymnasium.Env[Any, Any]):
    """Walks along the border of a grid to its last cell; the cells inside are walls.

    Every step is rewarded by -0.1, and the one to the last cell by 1, which ends the episode. Each
    group of `num_row` consecutive cells shares a random vector `vec`, float64 [5], and each place
    in a group a random image `img`, uint8, both drawn when the environment is made.

    Deviation: a random start is a cell of the border, not one inside, which no action leaves.

    Args:
        num_col, num_row: the size of the grid.
        random_start: whether an episode starts anywhere but at the last cell, else at the first.
        discrete_actions: whether an action is one of left, down, right and up; otherwise it is a
            preference for each, and the largest counts.
        channel_last: whether images are [64, 64, 1], else [1, 64, 64].
    """

    def __init__(
        self,
        num_col: int = 4,
        num_row: int = 4,
        random_start: bool = True,
        discrete_actions: bool = True,
        channel_last: bool = True,
    ) -> None:
        self.num_col, self.num_row, self.random_start = num_col, num_row, random_start
        self.discrete_actions = discrete_actions
        self.action_space = spaces.Discrete(4) if discrete_actions else spaces.Box(0, 1, (4,))
        shape = (_PIXELS, _PIXELS, 1) if channel_last else (1, _PIXELS, _PIXELS)
        self.observation_space = spaces.Dict(
            {
                "vec": spaces.Box(0, 1, (_VECTOR,), np.float64),
                "img": spaces.Box(0, 255, shape, np.uint8),
            }
        )
        self._vectors = np.random.random((num_col, _VECTOR))
        self._images = np.random.randint(0, 255, (num_row, *shape), np.uint8)
        self.state, self.count, self.log = 0, 0, ""

    @property
    def max_state(self) -> int:
        """The number of the last cell."""
        return self.num_col * self.num_row - 1

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Array], dict[str, Any]]:
        super().reset(seed=seed)
        starts = [cell for cell in range(self.max_state) if self._is_free(*self._place(cell))]
        self.state = int(self.np_random.choice(starts)) if self.random_start else 0
        self.count = 0
        return self.get_state_mapping(), {}

    def step(self, action: Any) -> tuple[dict[str, Array], float, bool, bool, dict[str, Any]]:
        chosen = int(action if self.discrete_actions else np.argmax(action))
        before, (row, column) = self.state, self._place(self.state)
        row, column = row + _MOVES[chosen][0], column + _MOVES[chosen][1]
        if self._is_free(row, column):
            self.state = row * self.num_col + column
        self.count += 1
        self.log = f"Went {_NAMES[chosen]} in state {before}, got to state {self.state}"
        is_there = self.state == self.max_state
        reward, truncated = 1.0 if is_there else -0.1, self.count > _LIMIT
        return self.get_state_mapping(), reward, is_there, truncated, {"got_to_end": is_there}

    def get_state_mapping(self) -> dict[str, Array]:
        """The observation of the current cell."""
        vector, image = divmod(self.state, self.num_row)
        return {"vec": self._vectors[vector], "img": self._images[image]}

    def render(self) -> None:
        """Print the latest step."""
        print(self.log)

    def _place(self, cell: int) -> tuple[int, int]:
        """Row and column of a cell."""
        return divmod(cell, self.num_col)

    def _is_free(self, row: int, column: int) -> bool:
        """Whether a cell is on the border of the grid."""
        rows, columns = (0, self.num_row - 1), (0, self.num_col - 1)
        is_inside = 0 <= row < self.num_row and 0 <= column < self.num_col
        return is_inside and (row in rows or column in columns)
