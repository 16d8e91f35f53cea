"""Minibatches of sequences, for recurrent policies.

A rollout is [T, N, ...]. It is cut into M sequences of L steps, which are whole environments if
L is T; a minibatch holds n of them, B = L * n, time first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from rlk.records import Array
from rlk_networks import Policy, as_tensor
from rlk_networks.recurrent import is_recurrent
from rlk_on_policy.minibatches import Minibatch, epochs, flat, map_fields
from rlk_on_policy.recurrent import encoded, unrolled
from rlk_rollout.rollout import Rollout


@dataclass(frozen=True, kw_only=True)
class Sequences(Minibatch):
    """Sequences: fields [B, ...] as in any minibatch, and the states to unroll them from.

    Attributes:
        state: float [n, S], before the first step.
        episode_start: bool [L, n], where the state is reset.
    """

    state: Tensor
    episode_start: Tensor

    def outputs(self, policy: Policy, *names: str) -> tuple[Any, ...]:
        """The outputs of the named heads, [B, ...], each sequence unrolled in one call."""
        return unrolled(policy, self.observation, self.state, self.episode_start, *names)

    def hidden(self, policy: Policy, name: str) -> Tensor:
        """The output of a head's hidden layers, each sequence unrolled (`Policy.hidden`)."""
        features = encoded(policy, self.observation, self.state, self.episode_start)
        return policy.hidden_from(features, name)


SomeSequences = TypeVar("SomeSequences", bound=Sequences)


def whole(rollout: Rollout, advantage: Array, policy: Policy, device: Any = "cpu") -> Minibatch:
    """The whole rollout as one minibatch, as sequences if the policy is recurrent.

    Returns are advantage + value.
    """
    batch = flat(rollout, advantage, device)
    if not is_recurrent(policy):
        return batch
    state = as_tensor(rollout.extras["state"][0], device)
    start = as_tensor(rollout.extras["episode_start"], device)
    return Sequences(**vars(batch), state=state, episode_start=start)


def epochs_for(
    policy: Policy,
    rollout: Rollout,
    advantage: Array,
    n_epochs: int,
    n_minibatches: int,
    rng: np.random.Generator,
    device: Any = "cpu",
    length: int | None = None,
) -> Iterator[Minibatch]:
    """`epochs` of a rollout, or its `sequence_epochs` if the policy is recurrent."""
    if is_recurrent(policy):
        return sequence_epochs(rollout, advantage, n_epochs, n_minibatches, rng, device, length)
    return epochs(flat(rollout, advantage, device), n_epochs, n_minibatches, rng)


def sequence_epochs(
    rollout: Rollout,
    advantage: Array,
    n_epochs: int,
    n_minibatches: int,
    rng: np.random.Generator,
    device: Any = "cpu",
    length: int | None = None,
) -> Iterator[Sequences]:
    """Every epoch shuffles the sequences and yields each of them once; steps stay in order.

    A sequence begins with the state stored when it was collected.

    Args:
        rollout: with the extras `value`, `log_prob`, `state` and `episode_start`.
        advantage: float32 [T, N].
        n_minibatches: a divisor of the number of sequences.
        length: steps of a sequence, a divisor of T; None is T.
    """
    length, n_envs = length or len(advantage), advantage.shape[1]

    def sequences(part: Tensor) -> Tensor:
        """[T * N, ...] as [L, M, ...]."""
        steps = part.reshape(-1, length, n_envs, *part.shape[1:])
        return steps.transpose(0, 1).flatten(1, 2)

    steps = map_fields(flat(rollout, advantage, device), lambda part: sequences(part).flatten(0, 1))
    episode_start = sequences(as_tensor(rollout.extras["episode_start"], device).flatten())
    state: Tensor = as_tensor(rollout.extras["state"][::length], device).flatten(0, 1)
    cut = Sequences(**vars(steps), state=state, episode_start=episode_start)
    yield from shuffled_sequences(cut, n_epochs, n_minibatches, rng)


def shuffled_sequences(
    cut: SomeSequences, n_epochs: int, n_minibatches: int, rng: np.random.Generator
) -> Iterator[SomeSequences]:
    """The same for sequences that are there already, as `whole` makes them of a rollout.

    All fields are cut alike, also those of a class derived from `Sequences`: [B, ...], time first.

    Args:
        n_minibatches: a divisor of the number of sequences.
    """
    steps = cut.episode_start.shape
    for _ in range(n_epochs):
        order = torch.from_numpy(rng.permutation(len(cut.state))).to(cut.state.device)
        for chosen in torch.split(order, len(cut.state) // n_minibatches):

            def rows(part: Any, chosen: Tensor = chosen) -> Any:
                return part.unflatten(0, steps).index_select(1, chosen).flatten(0, 1)

            yield replace(
                map_fields(cut, rows, ("key", "state", "episode_start")),
                state=cut.state.index_select(0, chosen),
                episode_start=cut.episode_start.index_select(1, chosen),
            )
