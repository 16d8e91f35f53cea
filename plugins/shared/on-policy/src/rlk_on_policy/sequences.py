"""Minibatches of whole environments' sequences, for recurrent policies.

A rollout is [T, N, ...]; a minibatch holds all T steps of n of its environments, B = T * n, time
first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rlk import spaces
from rlk.errors import PlanError
from rlk.records import Array
from rlk_networks import Policy, as_tensor
from rlk_on_policy.minibatches import Minibatch, flat
from rlk_on_policy.recurrent import encoder_of, is_recurrent
from rlk_rollout.rollout import Rollout


@dataclass(frozen=True, kw_only=True)
class Sequences(Minibatch):
    """Whole sequences: fields [B, ...] as in any minibatch, and what unrolling them takes.

    Attributes:
        state: float [n, S], before the first step.
        episode_start: bool [T, n], where the state is forgotten.
    """

    state: Tensor
    episode_start: Tensor

    def outputs(self, policy: Policy, *names: str) -> tuple[Any, ...]:
        """What the named heads give [B, ...], each sequence unrolled in one call."""
        x = policy.preprocess(self.observation)
        features = encoder_of(policy)(x, self.state, self.episode_start)
        return tuple([getattr(policy, name)(features) for name in names])


def whole(rollout: Rollout, advantage: Array, policy: Policy, device: Any = "cpu") -> Minibatch:
    """The whole rollout as one minibatch, as sequences where the policy is recurrent.

    Returns are advantage + value.
    """
    batch = flat(rollout, advantage, device)
    if not is_recurrent(policy):
        return batch
    state = as_tensor(rollout.extras["state"][0], device)
    start = as_tensor(rollout.extras["episode_start"], device)
    return Sequences(**vars(batch), state=state, episode_start=start)


def whole_environments(n_minibatches: int, n_envs: int, title: str, setting: str) -> None:
    """Nothing, if a rollout's environments can be dealt out evenly.

    Args:
        title: of the algorithm, for the message. setting: its name for the number of minibatches.

    Raises:
        PlanError: if they cannot.
    """
    if n_envs % n_minibatches == 0:
        return
    others = [str(n) for n in range(2, n_envs + 1) if n_envs % n == 0]
    more = f" (or {', '.join(others)})" if others else ""
    raise PlanError(
        f"{title} trains a recurrent policy on whole environments' sequences, and n_envs={n_envs} "
        f"cannot be dealt out evenly to {setting}={n_minibatches}. Say --set {setting}=1{more}, or "
        f"--n-envs {n_minibatches} or a multiple of it."
    )


def sequence_epochs(
    rollout: Rollout,
    advantage: Array,
    n_epochs: int,
    n_minibatches: int,
    rng: np.random.Generator,
    device: Any = "cpu",
) -> Iterator[Sequences]:
    """Every epoch shuffles the environments and yields each of them once; steps stay in order.

    Returns are advantage + value. `n_minibatches` divides the number of environments.
    """

    def tensor(array: Array) -> Tensor:
        made: Tensor = as_tensor(array, device)
        return made

    extras, n_envs = rollout.extras, advantage.shape[1]
    observation = spaces.map_observation(tensor, rollout.observation)
    action, advantages, value = tensor(rollout.action), tensor(advantage), tensor(extras["value"])
    log_prob, state = tensor(extras["log_prob"]), tensor(extras["state"][0])
    episode_start, return_ = tensor(extras["episode_start"]), advantages + value
    for _ in range(n_epochs):
        order = torch.from_numpy(rng.permutation(n_envs)).to(device)
        for envs in torch.split(order, n_envs // n_minibatches):

            def rows(part: Any, envs: Tensor = envs) -> Any:
                return part.index_select(1, envs).flatten(0, 1)

            yield Sequences(
                observation=spaces.map_observation(rows, observation),
                action=rows(action),
                advantage=rows(advantages),
                return_=rows(return_),
                value=rows(value),
                log_prob=rows(log_prob),
                state=state.index_select(0, envs),
                episode_start=episode_start.index_select(1, envs),
            )
