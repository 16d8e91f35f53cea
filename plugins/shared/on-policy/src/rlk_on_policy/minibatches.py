"""Epochs of shuffled minibatches from one rollout. B transitions of a minibatch."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from operator import itemgetter
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from rlk import spaces
from rlk.errors import RlkError
from rlk.records import Array
from rlk_networks import Policy, as_tensor
from rlk_rollout.rollout import Rollout


@dataclass(frozen=True)
class Minibatch:
    """Transitions of a rollout with the values and log-probabilities of collection time.

    Attributes:
        observation: [B, ...], raw. action: [B, ...].
        advantage, return_, value: float [B].
        stored_log_prob: float [B], or None if the algorithm does not store it: see `log_prob`.
        key: which of an algorithm's alternating updates this is.
    """

    observation: Any
    action: Tensor
    advantage: Tensor
    return_: Tensor
    value: Tensor
    stored_log_prob: Tensor | None = None
    key: str = ""

    @property
    def log_prob(self) -> Tensor:
        """log pi(a|s) of the policy that collected, float [B].

        Raises:
            RlkError: if the algorithm does not store it.
        """
        if self.stored_log_prob is None:
            raise not_stored("log_prob", "the minibatch")
        return self.stored_log_prob

    def outputs(self, policy: Policy, *names: str) -> tuple[Any, ...]:
        """The outputs of the named heads for these observations, each [B, ...]; `vf` is [B, 1]."""
        return policy(self.observation, *names)

    def hidden(self, policy: Policy, name: str) -> Tensor:
        """The output of a head's hidden layers for these observations (`Policy.hidden`)."""
        return policy.hidden(self.observation, name)


SomeMinibatch = TypeVar("SomeMinibatch", bound=Minibatch)


def flat(rollout: Rollout, advantage: Array, device: Any = "cpu") -> Minibatch:
    """The whole rollout as one minibatch, time and environments flattened.

    Returns are advantage + value. Fields may be views of the storage's arrays, which the next
    collection overwrites: clone what is kept for longer.

    Raises:
        RlkError: if the algorithm does not store `value`.
    """

    def tensor(array: Array) -> Tensor:
        return as_tensor(array.reshape(-1, *array.shape[2:]), device)

    value, log_prob = stored(rollout, "value"), rollout.extras.get("log_prob")
    return Minibatch(
        spaces.map_observation(tensor, rollout.observation),
        tensor(rollout.action),
        tensor(advantage),
        tensor(advantage + value),
        tensor(value),
        None if log_prob is None else tensor(log_prob),
    )


def epochs(
    whole: SomeMinibatch, n_epochs: int, n_minibatches: int, rng: np.random.Generator
) -> Iterator[SomeMinibatch]:
    """Every epoch shuffles again and yields `n_minibatches` slices that hold each transition once.

    Fields are gathered once per epoch; a minibatch is a view. If the transitions do not divide
    evenly, minibatches differ by one in size, so that none is a small remainder.
    """
    size = len(whole.action)
    bounds = np.linspace(0, size, n_minibatches + 1).round().astype(int).tolist()
    for _ in range(n_epochs):
        order = torch.from_numpy(rng.permutation(size)).to(whole.action.device)
        shuffled = map_fields(whole, partial(torch.index_select, dim=0, index=order))
        for start, end in pairwise(bounds):
            yield map_fields(shuffled, itemgetter(slice(start, end)))


def map_fields(
    whole: SomeMinibatch, function: Callable[[Any], Any], without: Collection[str] = ("key",)
) -> SomeMinibatch:
    """A minibatch with a function applied to every field, and to each part of the observation.

    Args:
        without: names of fields that stay as they are; None does, too.
    """
    given = {name: one for name, one in vars(whole).items() if name not in without}
    fields = {name: one for name, one in given.items() if one is not None}
    mapped = {name: spaces.map_observation(function, one) for name, one in fields.items()}
    return replace(whole, **mapped)


def stored(rollout: Rollout, name: str) -> Array:
    """The extra of that name, [T, N, ...].

    Raises:
        RlkError: if the algorithm does not store it.
    """
    found = rollout.extras.get(name)
    if found is None:
        has = ", ".join(sorted(rollout.extras)) or "none"
        raise not_stored(name, f"the rollout with the extras {has}")
    return found


def not_stored(name: str, what: str) -> RlkError:
    """The error for an extra that is used, but not stored in `what`."""
    return RlkError(
        f"{what} does not hold {name!r}. The algorithm's extras() must return it: "
        f"{{'value': Field(()), 'log_prob': Field(())}}, from rlk.records."
    )
