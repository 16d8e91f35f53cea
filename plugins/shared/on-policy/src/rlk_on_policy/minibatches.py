"""Epochs of shuffled minibatches from one rollout. B = T * N transitions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rlk import spaces
from rlk.records import Array
from rlk_networks import Policy, as_tensor
from rlk_rollout.rollout import Rollout


@dataclass(frozen=True)
class Minibatch:
    """Transitions of a rollout with what was known when they were collected.

    Attributes:
        observation: [B, ...], raw. action: [B, ...].
        advantage, return_, value, log_prob: float [B].
        key: which of an algorithm's alternating updates this is.
    """

    observation: Any
    action: Tensor
    advantage: Tensor
    return_: Tensor
    value: Tensor
    log_prob: Tensor
    key: str = ""

    def outputs(self, policy: Policy, *names: str) -> tuple[Any, ...]:
        """What the named heads give for these observations, each [B, ...]."""
        given: tuple[Any, ...] = policy(self.observation, *names)
        return given


def flat(rollout: Rollout, advantage: Array, device: Any = "cpu") -> Minibatch:
    """The whole rollout as one minibatch, time and environments flattened.

    Returns are advantage + value.
    """

    def tensor(array: Array) -> Tensor:
        joined: Tensor = as_tensor(array.reshape(-1, *array.shape[2:]), device)
        return joined

    value = rollout.extras["value"]
    return Minibatch(
        spaces.map_observation(tensor, rollout.observation),
        tensor(rollout.action),
        tensor(advantage),
        tensor(advantage + value),
        tensor(value),
        tensor(rollout.extras["log_prob"]),
    )


def minibatches_ahead(
    timesteps: int, collected: int, n_epochs: int, n_minibatches: int
) -> tuple[int, int]:
    """How many minibatches `epochs` yields in so many timesteps, and the transitions of each.

    Args:
        collected: timesteps of one collection.
    """
    collections = math.ceil(timesteps / collected)
    return collections * n_epochs * n_minibatches, collected // n_minibatches


def epochs(
    whole: Minibatch, n_epochs: int, n_minibatches: int, rng: np.random.Generator
) -> Iterator[Minibatch]:
    """Every epoch shuffles anew and yields `n_minibatches` slices that hold each transition once.

    Fields are gathered once per epoch; a minibatch is a view. Where the transitions do not divide
    evenly, minibatches differ by one in size, so that none is a small remainder.
    """
    size = len(whole.action)
    bounds = np.linspace(0, size, n_minibatches + 1).round().astype(int)
    for _ in range(n_epochs):
        order = torch.from_numpy(rng.permutation(size)).to(whole.action.device)
        shuffled = _take(whole, order)
        for start, end in pairwise(bounds):
            yield _slice(shuffled, int(start), int(end))


def _take(whole: Minibatch, order: Tensor) -> Minibatch:
    return Minibatch(
        _map(lambda part: part.index_select(0, order), whole.observation),
        whole.action.index_select(0, order),
        whole.advantage.index_select(0, order),
        whole.return_.index_select(0, order),
        whole.value.index_select(0, order),
        whole.log_prob.index_select(0, order),
    )


def _slice(whole: Minibatch, start: int, end: int) -> Minibatch:
    return Minibatch(
        _map(lambda part: part[start:end], whole.observation),
        whole.action[start:end],
        whole.advantage[start:end],
        whole.return_[start:end],
        whole.value[start:end],
        whole.log_prob[start:end],
    )


def _map(function: Any, observation: Any) -> Any:
    if isinstance(observation, Mapping):
        return {key: function(part) for key, part in observation.items()}
    return function(observation)
