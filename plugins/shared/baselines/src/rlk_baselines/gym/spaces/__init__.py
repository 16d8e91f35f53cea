"""Gymnasium's spaces, under gym's module name."""

from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Space, Tuple
from gymnasium.spaces.utils import flatten, flatten_space, unflatten

__all__ = [
    "Box",
    "Dict",
    "Discrete",
    "MultiBinary",
    "MultiDiscrete",
    "Space",
    "Tuple",
    "flatten",
    "flatten_space",
    "unflatten",
]
