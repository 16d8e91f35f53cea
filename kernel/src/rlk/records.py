"""The data that crosses the tensor side of a seam: what a step, a batch, a loss and an update are.

Dimensions: T time, N environments, B batch, D the size of one action. These are plain dataclasses
and named tuples, for attrs' constructors do not trace under torch.compile. What planning passes
around is in spec.py (RunSpec, Patch) and plan.py (Plan, Choice).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import gymnasium as gym
    from torch import Tensor

Array = np.ndarray[Any, np.dtype[Any]]


class Step(NamedTuple):
    """One step of a vector environment, as a storage is given it.

    Arrays may be reused after the next step.

    Attributes:
        observation: [N, ...], raw, what the action was chosen on.
        action: [N, ...], what the policy chose (before clipping or scaling to the environment).
        reward: float [N]; never holds a bootstrap value.
        terminated, truncated: bool [N], apart everywhere.
        next_observation: [N, ...], what the next action is chosen on: where an episode ended, the
            first observation of the next one.
        final_observation: what the episode ended on, only where one ended: index of the environment
            -> observation.
        extras: what the algorithm's schema asks for besides (value, log_prob, info keys …), each
            [N, ...].
    """

    observation: Any
    action: Array
    reward: Array
    terminated: Array
    truncated: Array
    next_observation: Any
    final_observation: Mapping[int, Any]
    extras: Mapping[str, Array]


@dataclass(frozen=True)
class Field:
    """The shape (without time and environment) and dtype of one stored field."""

    shape: tuple[int, ...]
    dtype: str = "float32"


@dataclass(frozen=True)
class Schema:
    """What a storage is opened with.

    Attributes:
        observation_space, action_space: of one environment.
        n_envs: environments stepped together.
        n_steps: vector steps per collection; what a rollout storage holds.
        extras: the fields of `Step.extras` to keep.
        gamma: the discount per step.
        device: where batches go.
        total_timesteps: of the whole run, for schedules.
        rng: the storage's own stream.
        progress: () -> the part of the run that is done, 0 to 1.
        make_env: () -> an environment of the run in this process, to ask questions of, not to step.
    """

    observation_space: gym.Space[Any]
    action_space: gym.Space[Any]
    n_envs: int
    n_steps: int
    gamma: float
    device: Any
    total_timesteps: int
    rng: np.random.Generator
    progress: Any
    extras: Mapping[str, Field] = field(default_factory=dict)
    make_env: Callable[[], Any] | None = None


@dataclass(frozen=True)
class Batch:
    """Transitions to learn from, as tensors on the run's device.

    Attributes:
        observation: [B, ...], raw; a dict of tensors for a Dict space.
        action: [B, ...].
        reward: float [B]; with n-step, the discounted sum.
        next_observation: [B, ...]; with n-step, the observation n steps on.
        discount: float [B], gamma to the power of the steps taken, 0 where the episode terminated.
        weight: float [B], importance weights; ones for a uniform storage.
        index: int64 [B], the slots the transitions came from, for `feedback`.
        extras: further fields: those of the schema, noise drawn for the update, ….
        key: which of an algorithm's alternating updates this is; static under compile.
    """

    observation: Any
    action: Tensor
    reward: Tensor
    next_observation: Any
    discount: Tensor
    weight: Tensor
    index: Array
    extras: Mapping[str, Tensor] = field(default_factory=dict)
    key: str = ""


@dataclass(frozen=True)
class Rollout:
    """The last collection of an on-policy storage: numpy views that the next collection overwrites.

    Attributes:
        observation: [T, N, ...].
        action: [T, N, ...].
        reward: float32 [T, N].
        terminated, truncated: bool [T, N].
        next_observation: [N, ...], what follows the last step.
        final_time, final_env: int [F], where in the rollout an episode ended.
        final_observation: [F, ...], what those episodes ended on.
        extras: each [T, N, ...].
    """

    observation: Any
    action: Array
    reward: Array
    terminated: Array
    truncated: Array
    next_observation: Any
    final_time: Array
    final_env: Array
    final_observation: Any
    extras: Mapping[str, Array]


@dataclass(frozen=True)
class Loss:
    """What a loss function returns.

    Attributes:
        value: 0-dim, to be minimised.
        distribution: flat parameters of the action distribution, for KL and Fisher products.
        fisher: 0-dim sampled log-likelihood, for K-FAC.
        accept: 0-dim bool; False makes the step not happen, without a branch.
        metrics: 0-dim tensors to log.
        outputs: whatever the caller of `optimise` wants back, detached (`td_error`, `log_prob`).
    """

    value: Tensor
    distribution: Tensor | None = None
    fisher: Tensor | None = None
    accept: Tensor | None = None
    metrics: Mapping[str, Tensor] = field(default_factory=dict)
    outputs: Mapping[str, Tensor] = field(default_factory=dict)


@dataclass(frozen=True)
class Update:
    """What one update of an algorithm reports.

    Attributes:
        metrics: 0-dim tensors by name (`loss`, `value_loss`); they stay tensors until somebody
            reads them.
        td_error: float [B], for storages that keep priorities; None if the algorithm has none.
    """

    metrics: Mapping[str, Tensor]
    td_error: Tensor | None = None


class Act(NamedTuple):
    """What an actor returns for N observations.

    Attributes:
        action: [N, ...], what is stored.
        env_action: [N, ...], what the environment gets (clipped or scaled); may be the same array.
        carry: what lives from step to step (recurrent state, gSDE matrix, noise); None if nothing
            does.
        extras: fields for the storage (value, log_prob).
    """

    action: Array
    env_action: Array
    carry: Any
    extras: Mapping[str, Array]
