"""Observations normalised by their running moments, as a module of the policy.

They are buffers of the policy, so every model and checkpoint holds them, and an evaluation,
`predict` or an export finds them in the policy. K numbers of an observation are normalised.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from torch import Tensor, nn

from rlk import spaces
from rlk.records import Array
from rlk_running_statistics.moments import Moments

#: Rows that the moments weigh before they have seen any (mean 0, variance 1), as in VecNormalize.
PRIOR = 1e-4


class ObservationStatistics(nn.Module):
    """Normalises observations by the moments at the latest `refresh`.

    x -> clip((x - mean) / sqrt(var + epsilon), -clip_obs, clip_obs)

    of every Box but images; of a Dict space of every such key. Everything else passes unchanged.

    Args:
        space: of one environment's observations; None normalises none.
        clip_obs: bound of what it gives, in standard deviations; infinity bounds nothing.
        epsilon: added to variances, above 0.

    Attributes:
        observation: the moments now, of K numbers.
        parts: what is normalised, as `boxes` gives it. size: K.
    """

    mean: Tensor
    std: Tensor

    def __init__(self, space: gym.Space[Any] | None, clip_obs: float, epsilon: float) -> None:
        super().__init__()
        self.clip_obs, self.epsilon = clip_obs, epsilon
        self.parts = boxes(space)
        self.size = sum(stop - start for _, start, stop, _ in self.parts)
        self._is_vector = [(key, len(shape)) for key, _, _, shape in self.parts] == [(None, 1)]
        self.register_buffer("mean", torch.zeros(self.size))
        self.register_buffer("std", torch.ones(self.size))
        self.observation = self.add_moments("observation", self.size)

    def add_moments(self, name: str, size: int) -> Moments:
        """Moments of so many numbers, in the memory of float64 buffers that models hold."""
        mean, var = torch.zeros(size, dtype=torch.float64), torch.ones(size, dtype=torch.float64)
        count = torch.full((1,), PRIOR, dtype=torch.float64)
        for key, buffer in (("mean", mean), ("var", var), ("count", count)):
            self.register_buffer(f"{name}_{key}", buffer)
        return Moments(mean.numpy(), var.numpy(), count.numpy())

    def _apply(self, fn: Any, recurse: bool = True) -> ObservationStatistics:
        """Only what observations are normalised with moves to another device or dtype."""
        for name in ("mean", "std"):
            self._buffers[name] = fn(getattr(self, name))
        return self

    def rows(self, observation: Any) -> Array:
        """The numbers of a batch of observations that are normalised, [N, K]."""
        if len(self.parts) == 1:
            ((key, *_),) = self.parts
            array = observation if key is None else observation[key]
            return np.asarray(array).reshape(len(array), -1)
        found = [np.asarray(observation[key]) for key, *_ in self.parts]
        return np.concatenate([part.reshape(len(part), -1) for part in found], axis=1)

    def refresh(self) -> None:
        """Observations are normalised by the present moments from now on."""
        moments = self.observation
        self.mean.copy_(torch.from_numpy(moments.mean))
        self.std.copy_(torch.from_numpy(np.sqrt(moments.var + self.epsilon)))

    def forward(self, observation: Any) -> Any:
        clip, found = self.clip_obs, observation
        if self._is_vector:
            return ((observation - self.mean) / self.std).clamp(-clip, clip)
        for key, start, stop, shape in self.parts:
            mean, std = self.mean[start:stop].view(shape), self.std[start:stop].view(shape)
            part = observation if key is None else observation[key]
            made = ((part - mean) / std).clamp(-clip, clip)
            found = made if key is None else {**found, key: made}
        return found

    def numpy_forward(self) -> Callable[[Any], Any]:
        """The same on the same memory."""
        clip, mean, std = np.float32(self.clip_obs), self.mean.numpy(), self.std.numpy()
        parts = [
            (k, mean[a:b].reshape(shape), std[a:b].reshape(shape)) for k, a, b, shape in self.parts
        ]

        def normalised(observation: Any) -> Any:
            found = observation
            for key, mean, std in parts:
                part = observation if key is None else observation[key]
                made = np.subtract(part, mean, dtype=np.float32)
                made /= std
                np.minimum(np.maximum(made, -clip, out=made), clip, out=made)
                found = made if key is None else {**found, key: made}
            return found

        return normalised


def boxes(space: gym.Space[Any] | None) -> list[tuple[str | None, int, int, tuple[int, ...]]]:
    """The Boxes of a space that hold no image: a Box itself, or those of a Dict.

    Each as (its key in a Dict, start and stop among the numbers of all of them, shape).
    """
    named: dict[Any, Any] = {None: space}
    if isinstance(space, gym.spaces.Dict):
        named = dict(space.spaces)
    found, start = [], 0
    for key, part in named.items():
        if isinstance(part, gym.spaces.Box) and not spaces.is_image(part):
            stop = start + math.prod(part.shape)
            found.append((key, start, stop, part.shape))
            start = stop
    return found
