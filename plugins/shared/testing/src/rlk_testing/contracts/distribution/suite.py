"""What the checks of a distribution share: action spaces, parameters and samples."""

from __future__ import annotations

import itertools
import math
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
import torch
from torch import Tensor

from rlk.spaces import choices_of
from rlk_testing.contracts.shared.contract import Contract

#: Number of samples, and the standard deviations by which an estimate from them may be off.
SAMPLES, SIGMAS = 50_000, 5.0
#: Action spaces for every name that components declare.
BY_NAME: dict[str, tuple[gym.Space[Any], ...]] = {
    "Discrete": (gym.spaces.Discrete(3), gym.spaces.Discrete(2, start=-1)),
    "Box": (
        gym.spaces.Box(np.array([-1.0, 0.0], np.float32), np.array([2.0, 0.5], np.float32)),
        gym.spaces.Box(-2.0, 1.0, (1,), np.float32),
        gym.spaces.Box(-1.0, 1.0, (2, 1), np.float32),
    ),
    "MultiDiscrete": (
        gym.spaces.MultiDiscrete([2, 3], start=[1, -2]),
        gym.spaces.MultiDiscrete(np.array([[2, 2], [3, 2]])),
    ),
    "MultiBinary": (gym.spaces.MultiBinary(3), gym.spaces.MultiBinary((2, 2))),
}


class DistributionSuite(Contract):
    """Makes the distribution; `DistributionContract` describes the class attributes."""

    kind = "distributions"
    action_spaces: ClassVar[tuple[gym.Space[Any], ...]] = ()
    spread: ClassVar[float] = 0.7
    has_entropy: ClassVar[bool] = True
    has_kl: ClassVar[bool] = True

    def tried(self) -> list[tuple[gym.Space[Any], Any]]:
        """(action space, distribution) of these checks."""
        declared = self.record().action_spaces
        assert declared or self.action_spaces, "Component(action_spaces=…) says nothing"
        found = self.action_spaces or [s for name in declared for s in BY_NAME.get(name, ())]
        return [(space, self.made(space)) for space in found]

    def parameters(self, distribution: Any, *lead: int, seed: int = 0) -> Tensor:
        """Random flat parameters [*lead, P], as a network might output them."""
        generator = torch.Generator().manual_seed(seed)
        return self.spread * torch.randn(*lead, distribution.parameter_size, generator=generator)

    def draws(
        self, distribution: Any, count: int = SAMPLES, seed: int = 0
    ) -> tuple[Tensor, Tensor]:
        """Parameters [1, P], and `count` samples with them."""
        parameters = self.parameters(distribution, 1, seed=seed)
        noise = distribution.noise(np.random.default_rng(seed), count)
        return parameters, distribution.sample(
            parameters.expand(count, -1), torch.from_numpy(noise)
        )


def enumerate_actions(space: gym.Space[Any]) -> list[Any]:
    """Every action of a countable space, as storages keep it."""
    if isinstance(space, gym.spaces.Discrete):
        return [np.int64(a) for a in range(int(space.n))]
    sizes, _ = choices_of(space)
    return [np.array(a, np.int64) for a in itertools.product(*map(range, sizes))]


def margin(values: Tensor) -> float:
    """Five standard deviations of the mean of these samples, and a float32 rounding error."""
    return SIGMAS * float(values.std()) / math.sqrt(len(values)) + 1e-5
