"""Observations normalised by their running moments, as a module of the policy.

The moments are buffers of the policy, so every model and checkpoint contains them, and evaluations,
`predict` and exports use them. K numbers of an observation are normalised.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from torch import Tensor, nn

from rlk import spaces
from rlk.protocols import Communicator
from rlk.records import Array
from rlk_running_statistics.moments import Fresh, Moments

#: The weight of the initial moments (mean 0, variance 1) in rows, as in VecNormalize.
PRIOR = 1e-4


class ObservationStatistics(nn.Module):
    """Normalises observations by the moments of the latest `refresh`.

    x -> clip((x - mean) / sqrt(var + epsilon), -clip_obs, clip_obs)

    for every Box except images; for a Dict space, every such key. All other parts pass unchanged.

    Args:
        space: the observation space of one environment; None normalises nothing.
        clip_obs: bound of the outputs, in standard deviations; infinity means no bound.
        epsilon: added to variances, above 0.

    Attributes:
        observation: the present moments, of K numbers.
        parts: the Boxes that are normalised, as `boxes` returns them. size: K.
        fixed: whether `begin` leaves the moments as they are.
    """

    mean: Tensor
    std: Tensor

    def __init__(self, space: gym.Space[Any] | None, clip_obs: float, epsilon: float) -> None:
        super().__init__()
        self.clip_obs, self.epsilon, self.fixed = clip_obs, epsilon, False
        self.parts = boxes(space)
        self.size = sum(stop - start for _, start, stop, _ in self.parts)
        self._is_vector = [(key, len(shape)) for key, _, _, shape in self.parts] == [(None, 1)]
        self.register_buffer("mean", torch.zeros(self.size))
        self.register_buffer("std", torch.ones(self.size))
        self.observation = self.add_moments("observation", self.size)

    def add_moments(self, name: str, size: int) -> Moments:
        """Moments of `size` numbers, in the memory of float64 buffers that models save."""
        mean, var = torch.zeros(size, dtype=torch.float64), torch.ones(size, dtype=torch.float64)
        count = torch.full((1,), PRIOR, dtype=torch.float64)
        for key, buffer in (("mean", mean), ("var", var), ("count", count)):
            self.register_buffer(f"{name}_{key}", buffer)
        return Moments(mean.numpy(), var.numpy(), count.numpy())

    def _apply(self, fn: Any, recurse: bool = True) -> ObservationStatistics:
        """Move only the tensors used for normalising to another device or dtype."""
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

    def lack_observations(self) -> bool:
        """Whether there are numbers to normalise, and the moments contain no observation yet."""
        return self.size > 0 and not self.fixed and self.observation.count <= PRIOR

    def begin(self, batches: Iterable[Any], communicator: Communicator | None = None) -> None:
        """Use the moments of batches of observations, and go on from them.

        Nothing changes if the moments contain observations already, or are fixed. This is for
        learning from data, before which no environment was stepped. With a communicator, the
        observations of all its ranks count.
        """
        if self.lack_observations():
            fresh = Fresh(self.size)
            for observation in batches:
                fresh.add(self.rows(observation))
            mine = fresh.moments()
            for moments in [mine] if communicator is None else communicator.gather(mine):
                self.observation.merge(*moments)
            self.refresh()

    def refresh(self) -> None:
        """Use the present moments for normalising from now on."""
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
        """The numpy forward, on the same memory."""
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
    """The Boxes of a space that are not images: a Box itself, or those in a Dict.

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
