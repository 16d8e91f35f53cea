"""The records of tensors that components exchange: a step, a batch, a loss, an update.

Dimensions: N environments, B batch, P a distribution's flat parameters. These are plain dataclasses
and named tuples, because attrs' constructors do not trace under torch.compile. The records of
planning are in `rlk.planning` (RunSpec, Patch, Plan, Choice).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import gymnasium as gym
    from torch import Tensor

    from rlk.running.clock import Clock

Array = np.ndarray[Any, np.dtype[Any]]


class _Nothing(dict[str, Any]):
    """An empty dict that nobody can add to; torch.compile does not trace a MappingProxyType."""

    def _refuse(self, *given: Any, **named: Any) -> Any:
        raise TypeError(
            "all losses share the empty mapping that is their default. Give a dict of your own: "
            "loss._replace(metrics={**loss.metrics, NAME: TENSOR})."
        )

    __setitem__ = setdefault = update = __ior__ = _refuse


#: The metrics and outputs of a loss that has none.
NOTHING: Mapping[str, Any] = _Nothing()


class Step(NamedTuple):
    """One step of a vector environment, as passed to a storage; its arrays are reused later."""

    observation: Any  #: [N, ...], raw, the one that the action was chosen for
    action: Array  #: the policy's choice, before clipping or scaling: see `Act`
    reward: Array  #: float [N]; never holds a bootstrap value
    terminated: Array  #: bool [N]
    truncated: Array  #: bool [N], apart from `terminated` everywhere
    next_observation: Any  #: [N, ...], after an episode's end the first of the next one
    final_observation: Mapping[int, Any]  #: of episodes that ended, by index of environment
    extras: Mapping[str, Array]  #: [N, ...], the other fields of the schema (value, log_prob, …)


@dataclass(frozen=True)
class Field:
    """The shape (without time and environment) and dtype of one stored field."""

    shape: tuple[int, ...]
    dtype: str = "float32"
    #: Whether only the first step of a sequence is needed, for storages that give whole sequences.
    first_only: bool = False


@dataclass(frozen=True)
class Schema:
    """What a storage is opened with."""

    observation_space: gym.Space[Any]  #: of one environment
    action_space: gym.Space[Any]  #: of one environment
    n_envs: int  #: environments stepped together
    n_steps: int  #: vector steps per collection: the size of a rollout storage
    gamma: float  #: the discount per step
    device: str  #: where batches go, by torch's name
    rng: np.random.Generator  #: the storage's own random stream
    clock: Clock  #: of the run; scheduled numbers are functions of it
    extras: Mapping[str, Field] = field(default_factory=dict)  #: fields of `Step.extras` to store
    make_env: Callable[[], Any] | None = None  #: makes an environment to query, never to step
    stack_size: int = 1  #: how many frames the observations stack, as the environment declares


@dataclass(frozen=True)
class Batch:
    """Transitions to learn from, as tensors on the run's device."""

    observation: Any  #: [B, ...], raw; a dict of tensors for a Dict space
    action: Tensor  #: flat: [B] of a Discrete space, else [B, D]
    reward: Tensor  #: float [B]; with n-step, the discounted sum
    next_observation: Any  #: [B, ...]; with n-step, after the last summed step, at most n later
    discount: Tensor  #: float [B], gamma to the power of the steps taken; 0 where terminated
    weight: Tensor  #: float [B], importance weights; ones for a uniform storage
    index: Array  #: int64 [B], the slots the transitions came from, for `feedback`
    extras: Mapping[str, Tensor] = field(default_factory=dict)  #: the schema's; noise, …
    key: str = ""  #: which of an algorithm's alternating updates this is; static under compile


class Loss(NamedTuple):
    """What a loss function returns; 0-dim tensors where no shape is given."""

    value: Tensor  #: to be minimised
    distribution: Tensor | None = None  #: [B, P], flat parameters, for divergences and samples
    prediction: Tensor | None = None  #: float [B], outputs fitted by squared error (values)
    #: bool; if it is False, the step is not taken, and the algorithm adds 1 to `Clock.refused`
    accept: Tensor | None = None
    metrics: Mapping[str, Tensor] = NOTHING  #: to log
    outputs: Mapping[str, Tensor] = NOTHING  #: for the algorithm (`td_error`)


class Update(NamedTuple):
    """What one update of an algorithm reports."""

    metrics: Mapping[str, Tensor]  #: 0-dim, by name; they stay tensors until somebody reads them
    #: float [B], the error of each transition, or its part of the loss, for storages that keep
    #: priorities; signed or not, they use its absolute value
    td_error: Tensor | None = None


class Act(NamedTuple):
    """What an actor returns for N observations.

    The stored action is flat, whatever axes the space has: a whole number for a Discrete space,
    else the D numbers of the action (`spaces.action_size`). The environment's has its own shape.
    """

    action: Array  #: [N] or [N, D], to be stored
    env_action: Array  #: [N, *shape], for the environment; may be the same array
    carry: Any  #: state that lives from step to step (recurrent state, noise), or None
    extras: Mapping[str, Array]  #: fields for the storage (value, log_prob)
