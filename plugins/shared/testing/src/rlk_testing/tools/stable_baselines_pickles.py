"""Objects as Stable Baselines 2.10 and Stable-Baselines3 pickle them into their files.

Neither library has to be installed.
"""

from __future__ import annotations

import base64
import contextlib
import pickle
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest


@contextlib.contextmanager
def stand_in(path: str) -> Iterator[type]:
    """A class that pickles refer to by this path, and that can be imported meanwhile."""
    module, _, name = path.rpartition(".")
    made = type(name, (), {"__module__": module})
    parts = module.split(".")
    parents = [".".join(parts[: i + 1]) for i in range(len(parts))]
    with pytest.MonkeyPatch.context() as patch:
        for parent in parents:
            patch.setitem(sys.modules, parent, sys.modules.get(parent, types.ModuleType(parent)))
        patch.setattr(sys.modules[module], name, made, raising=False)
        yield made


def packed(value: Any) -> dict[str, str]:
    """A value that JSON cannot hold, as the JSON of a model has it."""
    pickled = base64.b64encode(pickle.dumps(value, protocol=4)).decode()
    return {":type:": str(type(value)), ":serialized:": pickled}


def object_there(path: str, **attributes: Any) -> dict[str, str]:
    """An object of the class with this path, packed; without attributes, the class itself."""
    with stand_in(path) as made:
        value = made() if attributes else made
        for name, one in attributes.items():
            setattr(value, name, one)
        return packed(value)


def box(low: Any, high: Any) -> dict[str, str]:
    """A Box of float32 between these bounds, packed."""
    low, high = np.asarray(low, np.float32), np.asarray(high, np.float32)
    return object_there("gym.spaces.box.Box", low=low, high=high, shape=low.shape, dtype=low.dtype)


def image_box(path: str, shape: tuple[int, ...]) -> dict[str, str]:
    """A Box of images, of bytes, packed; `path` is that of its class, of Gym or of Gymnasium."""
    low, high = np.zeros(shape, np.uint8), np.full(shape, 255, np.uint8)
    key = "_shape" if path.startswith("gymnasium.") else "shape"
    return object_there(path, low=low, high=high, dtype=low.dtype, **{key: shape})


def discrete(n: int) -> dict[str, str]:
    """A Discrete of n actions, packed."""
    return object_there("gym.spaces.discrete.Discrete", n=n, shape=(), dtype=np.dtype(np.int64))
