"""From raw observations [B, ...] to the numbers that an encoder takes, as `preprocess` in torch."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from rlk.records import Array
from rlk.spaces import Space, is_image
from rlk_numpy_acting.forward import Forward


def as_numbers(space: Space) -> Forward | None:
    """The numpy version of `rlk_networks.preprocess`; a dict of arrays for a Dict space.

    None for images, whose networks are faster in torch, and for spaces that are not known.
    """
    if isinstance(space, spaces.Dict):
        return _each_key(space)
    if isinstance(space, spaces.Discrete):
        return _one_hot(int(space.n), int(space.start))
    if isinstance(space, spaces.MultiDiscrete):
        return _one_hot_each(space)
    if isinstance(space, spaces.Box | spaces.MultiBinary) and not is_image(space):
        return _as_float32
    return None


def _each_key(space: spaces.Dict) -> Forward | None:
    parts = {key: as_numbers(part) for key, part in space.spaces.items()}
    known = {key: part for key, part in parts.items() if part is not None}
    if len(known) < len(parts):
        return None
    forward: Any = lambda observation: {key: part(observation[key]) for key, part in known.items()}
    return forward


def _one_hot(n: int, start: int = 0) -> Forward:
    rows = np.eye(n, dtype=np.float32)
    return lambda observation: rows[np.asarray(observation) - start]


def _one_hot_each(space: spaces.MultiDiscrete) -> Forward | None:
    if np.any(space.start):
        return None  # `preprocess` in torch refuses such observations when it meets one
    columns = [_one_hot(int(n)) for n in space.nvec.reshape(-1)]

    def forward(observation: Array) -> Array:
        values = np.asarray(observation).reshape(len(observation), -1).T
        return np.concatenate([f(v) for f, v in zip(columns, values, strict=True)], axis=1)

    return forward


def _as_float32(observation: Any) -> Array:
    return np.asarray(observation, dtype=np.float32)
