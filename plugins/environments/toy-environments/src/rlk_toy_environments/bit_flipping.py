"""Bit flipping: Andrychowicz et al. 2017, arXiv 1707.01495, section 3.1.

n bits must be flipped one at a time until they match a pattern; the reward is -1 per step until
then. With 2^n states, a random policy hardly ever succeeds, but every episode shows how to reach
*some* pattern.
"""

from __future__ import annotations

import math
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from rlk.records import Array

#: Width and height of an image of the bits: the smallest that the Nature CNN accepts.
SIDE = 36


class BitFlippingEnv(gym.Env[dict[str, Any], Any]):
    """A goal environment: a Dict of `observation`, `achieved_goal` (the same) and `desired_goal`.

    An episode terminates when the pattern is reached and is truncated after `max_steps`. Every info
    has `is_success`.

    Args:
        n_bits: number of bits (1 or more).
        continuous: whether actions are a Box of n numbers from -1 to 1, each of which flips its bit
            if it is above 0; otherwise the action is the number of the one bit to flip.
        max_steps: steps until an episode is truncated; None means `n_bits`.
        discrete_obs_space: whether patterns are one number, 0 to 2^n - 1, instead of n bits.
        image_obs_space: whether patterns are an image of squares, uint8 [36, 36, 1], instead of n
            bits.
        random_goal: whether every episode has a new random pattern, as in the paper, instead of all
            ones.

    Raises:
        ValueError: for numbers below 1, both kinds of observation, or too many bits for an image.
    """

    def __init__(
        self,
        n_bits: int = 10,
        continuous: bool = False,
        max_steps: int | None = None,
        discrete_obs_space: bool = False,
        image_obs_space: bool = False,
        random_goal: bool = False,
    ) -> None:
        self.n_bits, self.continuous, self.random_goal = n_bits, continuous, random_goal
        self.max_steps = n_bits if max_steps is None else max_steps
        if n_bits < 1 or self.max_steps < 1:
            raise ValueError(f"n_bits and max_steps must be 1 or more, got {n_bits}, {max_steps}")
        if discrete_obs_space and image_obs_space:
            raise ValueError("patterns are one number or a picture, not both")
        self.discrete_obs_space, self.image_obs_space = discrete_obs_space, image_obs_space
        self._cells = math.ceil(math.sqrt(n_bits))
        if image_obs_space and self._cells > SIDE:
            raise ValueError(f"a picture has room for {SIDE**2} bits, got n_bits={n_bits}")
        pattern: spaces.Space[Any] = spaces.MultiBinary(n_bits)
        if discrete_obs_space:
            pattern = spaces.Discrete(2**n_bits)
        if image_obs_space:
            pattern = spaces.Box(0, 255, (SIDE, SIDE, 1), np.uint8)
        self.observation_space = spaces.Dict(
            {"observation": pattern, "achieved_goal": pattern, "desired_goal": pattern}
        )
        self.action_space: spaces.Space[Any] = (
            spaces.Box(-1.0, 1.0, (n_bits,), np.float32) if continuous else spaces.Discrete(n_bits)
        )
        self._pattern_axes = tuple(range(-len(pattern.shape or ()), 0))
        self.state = np.zeros(n_bits, np.int8)
        self.goal = np.ones(n_bits, np.int8)
        self.current_step = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Set random bits and, with `random_goal`, a new pattern to reach."""
        super().reset(seed=seed)
        self.current_step = 0
        self.state = self._random()
        if self.random_goal:
            self.goal = self._random()
        return self._observation(), {}

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Flip the bit with this number or, if `continuous`, all bits whose number is above 0."""
        flipped = np.asarray(action) > 0 if self.continuous else int(action)
        self.state[flipped] ^= 1
        self.current_step += 1
        reached = bool((self.state == self.goal).all())
        late = not reached and self.current_step >= self.max_steps
        reward = 0.0 if reached else -1.0
        return self._observation(), reward, reached, late, {"is_success": reached}

    def compute_reward(self, achieved_goal: Any, desired_goal: Any, info: Any) -> Any:
        """0 if the patterns are equal, otherwise -1: a float, or float [B] for batches."""
        reached = self.compute_terminated(achieved_goal, desired_goal, info)
        return np.where(reached, 0.0, -1.0) if np.ndim(reached) else (0.0 if reached else -1.0)

    def compute_terminated(self, achieved_goal: Any, desired_goal: Any, info: Any) -> Any:
        """Whether the patterns are equal: a bool, or bool [B] for batches."""
        equal: Array = np.equal(achieved_goal, desired_goal).all(axis=self._pattern_axes)
        return equal if np.ndim(equal) else bool(equal)

    def _random(self) -> Array:
        return self.np_random.integers(0, 2, self.n_bits, dtype=np.int8)

    def _observation(self) -> dict[str, Any]:
        return {
            "observation": self._pattern(self.state),
            "achieved_goal": self._pattern(self.state),
            "desired_goal": self._pattern(self.goal),
        }

    def _pattern(self, bits: Array) -> Any:
        """A copy of the bits in the form that the observation space has."""
        if self.discrete_obs_space:
            return np.int64(bits @ (1 << np.arange(self.n_bits)[::-1]))
        if not self.image_obs_space:
            return bits.copy()
        grid = np.zeros(self._cells**2, np.uint8)
        grid[: self.n_bits] = bits.astype(np.uint8) * 255
        pixels = SIDE // self._cells
        square = np.kron(grid.reshape(self._cells, -1), np.ones((pixels, pixels), np.uint8))
        image = np.zeros((SIDE, SIDE, 1), np.uint8)
        image[: len(square), : len(square), 0] = square
        return image
