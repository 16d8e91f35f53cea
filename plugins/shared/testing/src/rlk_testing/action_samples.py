"""The actions that checks of a distribution look at: all of them, or so many samples."""

from __future__ import annotations

import itertools
import math
from typing import Any

import gymnasium as gym
import numpy as np
from torch import Tensor

from rlk.spaces import choices_of

#: Number of samples, and the standard deviations by which an estimate from them may be off.
SAMPLES, SIGMAS = 50_000, 5.0


def enumerate_actions(space: gym.Space[Any]) -> list[Any]:
    """Every action of a countable space, as storages keep it."""
    if isinstance(space, gym.spaces.Discrete):
        return [np.int64(a) for a in range(int(space.n))]
    sizes, _ = choices_of(space)
    return [np.array(a, np.int64) for a in itertools.product(*map(range, sizes))]


def margin(values: Tensor) -> float:
    """Five standard deviations of the mean of these samples, and a float32 rounding error."""
    return SIGMAS * float(values.std()) / math.sqrt(len(values)) + 1e-5
