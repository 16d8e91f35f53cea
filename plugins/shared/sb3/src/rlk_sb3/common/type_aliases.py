"""Type aliases and named tuples for the annotations of programs."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any, NamedTuple, Protocol, SupportsFloat

import gymnasium
from torch import Tensor

from rlk.records import Array
from rlk_baselines.common.vec_env import VecEnv
from rlk_sb3.common.callbacks import BaseCallback

GymEnv = gymnasium.Env[Any, Any] | VecEnv
GymObs = tuple[Any, ...] | dict[str, Any] | Array | int
GymResetReturn = tuple[GymObs, dict[str, Any]]
GymStepReturn = tuple[GymObs, float, bool, bool, dict[str, Any]]
AtariResetReturn = tuple[Array, dict[str, Any]]
AtariStepReturn = tuple[Array, SupportsFloat, bool, bool, dict[str, Any]]
TensorDict = dict[str, Tensor]
OptimizerStateDict = dict[str, Any]
MaybeCallback = BaseCallback | list[BaseCallback] | Callable[..., Any] | None
PyTorchObs = Tensor | TensorDict
Schedule = Callable[[float], float]  #: of the remaining fraction of the training, 1 to 0


class TrainFrequencyUnit(StrEnum):
    """The unit of `TrainFreq`."""

    STEP = "step"
    EPISODE = "episode"


class TrainFreq(NamedTuple):
    """A `train_freq`: the number of steps or episodes that are collected before each update."""

    frequency: int
    unit: TrainFrequencyUnit


class RolloutReturn(NamedTuple):
    """The result of one collection."""

    episode_timesteps: int
    n_episodes: int
    continue_training: bool


class ReplayBufferSamples(NamedTuple):
    """A batch of transitions from a `ReplayBuffer`, as tensors [B, ...]."""

    observations: Tensor
    actions: Tensor
    next_observations: Tensor
    dones: Tensor
    rewards: Tensor
    discounts: Tensor | None = None


class DictReplayBufferSamples(NamedTuple):
    """A batch of transitions from a `DictReplayBuffer`, as tensors [B, ...]."""

    observations: TensorDict
    actions: Tensor
    next_observations: TensorDict
    dones: Tensor
    rewards: Tensor
    discounts: Tensor | None = None


class RolloutBufferSamples(NamedTuple):
    """A batch of steps from a rollout buffer, as tensors [B, ...]."""

    observations: Tensor
    actions: Tensor
    old_values: Tensor
    old_log_prob: Tensor
    advantages: Tensor
    returns: Tensor


class DictRolloutBufferSamples(NamedTuple):
    """A batch of steps with Dict observations from a rollout buffer, as tensors [B, ...]."""

    observations: TensorDict
    actions: Tensor
    old_values: Tensor
    old_log_prob: Tensor
    advantages: Tensor
    returns: Tensor


class PolicyPredictor(Protocol):
    """The interface that `evaluate_policy` needs: a model, or its policy."""

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
    ) -> tuple[Any, Any]: ...
