"""From raw observations [B, ...] to the input of an encoder, like `preprocess` in torch."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from rlk.records import Array
from rlk.spaces import Space, describe, is_image
from rlk_numpy_acting.forward import Forward, StaysInTorch


def as_numbers(space: Space) -> Forward:
    """The numpy version of `rlk_networks.preprocess`; for a Dict space it returns a dict of arrays.

    Raises:
        StaysInTorch: for images, whose networks are faster in torch, and for unknown spaces.
    """
    if isinstance(space, spaces.Dict):
        return _each_key(space)
    if isinstance(space, spaces.Discrete):
        return _one_hot(int(space.n), int(space.start))
    if isinstance(space, spaces.MultiDiscrete):
        return _one_hot_each(space)
    if isinstance(space, spaces.Box | spaces.MultiBinary) and not is_image(space):
        return _as_float32
    raise StaysInTorch(f"observations {describe(space)}")


def _each_key(space: spaces.Dict) -> Forward:
    parts = {key: as_numbers(part) for key, part in space.spaces.items()}

    def forward(observation: Any) -> Any:
        return {key: part(observation[key]) for key, part in parts.items()}

    return forward


def _one_hot(n: int, start: int = 0) -> Forward:
    def forward(observation: Any) -> Array:
        counted = np.asarray(observation) - start
        rows = np.zeros((len(counted), n), np.float32)  # a table of all would take n * n numbers
        rows[np.arange(len(counted)), counted] = 1
        return rows

    return forward


def _one_hot_each(space: spaces.MultiDiscrete) -> Forward:
    pairs = zip(space.nvec.reshape(-1), space.start.reshape(-1), strict=True)
    choices = [_one_hot(int(n), int(start)) for n, start in pairs]

    def forward(observation: Array) -> Array:
        columns = observation.reshape(len(observation), -1).T
        return np.concatenate([f(c) for f, c in zip(choices, columns, strict=True)], axis=1)

    return forward


def _as_float32(observation: Any) -> Array:
    return np.asarray(observation, dtype=np.float32)
