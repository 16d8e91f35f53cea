"""Gymnasium's spaces, under gym's module name."""

import importlib
import sys

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

# gym, too, has every space in a module of its own.
for _name in ("box", "dict", "discrete", "multi_binary", "multi_discrete", "space", "tuple"):
    _module = importlib.import_module(f"gymnasium.spaces.{_name}")
    globals()[_name] = sys.modules[f"{__name__}.{_name}"] = _module
