"""CartPole without velocities: one observation does not show which way things move."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np


class CartPoleWithoutVelocities(gym.ObservationWrapper):
    """CartPole-v1 whose observation is [position of the cart, angle of the pole], float32 [2]."""

    def __init__(self, **keywords: Any) -> None:
        super().__init__(gym.make("CartPole-v1", **keywords))
        low, high = self.env.observation_space.low, self.env.observation_space.high
        self.observation_space = gym.spaces.Box(low[[0, 2]], high[[0, 2]], dtype=np.float32)

    def observation(self, observation: np.ndarray) -> np.ndarray:
        return observation[[0, 2]]
