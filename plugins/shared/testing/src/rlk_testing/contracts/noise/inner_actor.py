"""The actor that noises are tried around."""

from __future__ import annotations

import copy
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from torch import nn

from rlk.records import Act, Array
from rlk.running.seeding import Streams
from rlk.spaces import action_size
from rlk_testing.stand_ins import StandInParameters, StandInPolicy

#: The field that the actor adds to every step.
TOLD = "told"
_OBSERVATION = gym.spaces.Box(-1.0, 1.0, (3,), np.float32)


class Inner:
    """An actor with a linear policy; its extra `TOLD` is the observation.

    With `carries`, its carry counts steps, and goes up by 100 where a collection begins.

    Attributes:
        acted: everything that it has returned, each with a copy made at that time. Actors with
            another policy add to it too.
    """

    def __init__(self, space: gym.Space[Any]) -> None:
        self.space = space
        size = int(space.n) if isinstance(space, gym.spaces.Discrete) else action_size(space)
        with Streams(0).globally("init"):
            self.policy: nn.Module = StandInPolicy().build(
                _OBSERVATION, {"pi": lambda _: nn.Linear(3, size)}
            )
        self.parameters = StandInParameters(self.policy)
        self.carries, self.counted = False, list[int]()
        self.acted: list[tuple[Act, Act]] = []

    def with_policy(self, policy: nn.Module) -> Inner:
        other = copy.copy(self)
        other.policy = policy
        return other

    def start(self, n_envs: int) -> Any:
        return np.zeros(n_envs) if self.carries else None

    def begin(self, carry: Any) -> Any:
        return carry + 100 if self.carries else carry

    def metrics(self) -> dict[str, float]:
        return {"rollout/inner": 0.5}

    def act(
        self, observation: Any, carry: Any, episode_start: Array, deterministic: bool = False
    ) -> Act:
        if self.carries:
            carry = np.zeros(len(episode_start)) if carry is None else carry
            self.counted.append(int(carry[0]))
            carry = carry + 1
        act = self.chosen(self.values(observation), carry, {TOLD: np.copy(observation)})
        self.acted.append((act, copy.deepcopy(act)))
        return act

    def chosen(self, found: Array, carry: Any, extras: dict[str, Array]) -> Act:
        """The act with the actions that these outputs of the policy, float [N, D], stand for."""
        if isinstance(self.space, gym.spaces.Discrete):
            action = found.argmax(1)
            return Act(action, action + int(self.space.start), carry, extras)
        if isinstance(self.space, gym.spaces.Box):
            low, high = self.space.low, self.space.high
            shaped = np.clip(found.reshape(-1, *self.space.shape), low, high).astype(np.float32)
            return Act(shaped.reshape(found.shape), shaped, carry, extras)
        return Act((found > 0).astype(np.int64), (found > 0).astype(np.int64), carry, extras)

    def values(self, observation: Any) -> Array:
        with torch.inference_mode():
            (values,) = self.policy(torch.from_numpy(observation), "pi")
        return values.numpy()

    def probabilities(self, observation: Any, carry: Any, episode_start: Array) -> Array:
        """The softmax of the values, float [N, A]."""
        weights = np.exp(self.values(observation))
        return weights / weights.sum(1, keepdims=True)


def observed(n_envs: int, t: int) -> Array:
    """Observations [N, 3] that differ from step to step."""
    return np.sin(np.arange(3 * n_envs) + t).reshape(n_envs, 3).astype(np.float32)
