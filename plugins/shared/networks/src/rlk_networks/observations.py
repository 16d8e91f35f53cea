"""From raw observations to the input of an encoder: first tensors, then floats. B batch."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor
from torch.nn import functional

from rlk.errors import PlanError
from rlk.spaces import Space, describe, dtype_for_torch, is_image


def as_tensor(observation: Any, device: Any = "cpu") -> Any:
    """A numpy observation, or a dict of them, as tensors; on the CPU the memory is shared.

    It is copied if torch does not take its dtype (`rlk.spaces.dtype_for_torch`), or if its numbers
    are not in the order of its axes. A transposed image of one channel has that order, but keeps
    strides by which torch would compute convolutions in another way, with other roundings, than for
    the same image in a storage or a checkpoint.
    """
    if isinstance(observation, Mapping):
        return {key: as_tensor(value, device) for key, value in observation.items()}
    array = np.asarray(observation)
    array = np.ascontiguousarray(array, dtype_for_torch(array.dtype))
    tensor = torch.from_numpy(array.reshape(-1).reshape(array.shape))  # strides of a new array
    return tensor if device == "cpu" else tensor.to(device)


def preprocess(space: Space) -> Callable[[Any], Any]:
    """From raw observations [B, ...] to the input of an encoder, in torch and traceable.

    Images become float in 0..1, whole numbers one-hot, all else float32; for a Dict space, a dict
    of these.
    """
    if isinstance(space, spaces.Dict):
        parts = {key: preprocess(sub) for key, sub in space.spaces.items()}
        return lambda observation: {key: part(observation[key]) for key, part in parts.items()}
    if is_image(space):
        return _as_image
    if isinstance(space, spaces.Discrete):
        n, start = int(space.n), int(space.start)
        return lambda observation: _one_hot(observation, n, start)
    if isinstance(space, spaces.MultiDiscrete):
        return _one_hot_each(space)
    return _as_float


def flat_size(space: Space) -> int:
    """How many numbers `preprocess` returns for one observation, in all keys of a Dict together.

    Raises:
        PlanError: for a space whose elements have no fixed shape, such as Text.
    """
    if isinstance(space, spaces.Dict):
        return sum(flat_size(part) for part in space.spaces.values())
    if isinstance(space, spaces.Discrete):
        return int(space.n)
    if isinstance(space, spaces.MultiDiscrete):
        return int(np.sum(space.nvec))
    if space.shape is None:
        raise PlanError(
            f"observations {describe(space)} have no fixed number of numbers. Use a Box, Discrete, "
            "MultiDiscrete or MultiBinary space, or a Dict of these."
        )
    return math.prod(space.shape)


def _as_float(observation: Tensor) -> Tensor:
    return observation if observation.dtype == torch.float32 else observation.to(torch.float32)


def _as_image(observation: Tensor) -> Tensor:
    """Whole numbers 0..255 to 0..1."""
    # In place: a second tensor of 29 MB (256 images of 84x84x4) takes 2 ms more, and ten times that
    # if the allocator has returned its memory to the system.
    return observation.to(torch.float32, copy=True).div_(255.0)


def _one_hot_each(space: spaces.MultiDiscrete) -> Callable[[Tensor], Tensor]:
    """Concatenated one-hot vectors of all choices, each counted from its own start."""
    choices = list(zip(space.nvec.reshape(-1), space.start.reshape(-1), strict=True))
    numbered = [(i, int(n), int(start)) for i, (n, start) in enumerate(choices)]

    def one_hot_each(observation: Tensor) -> Tensor:
        columns = observation.flatten(1)
        parts = [_one_hot(columns[:, i], n, start) for i, n, start in numbered]
        return torch.cat(parts, dim=-1)

    return one_hot_each


def _one_hot(number: Tensor, n: int, start: int) -> Tensor:
    """One-hot vectors [B, n] of whole numbers [B], counted from the start of their space."""
    index = number.long()  # first, because torch does not subtract numbers of type uint16
    return functional.one_hot(index - start if start else index, n).to(torch.float32)
