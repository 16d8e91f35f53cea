"""How SAC acts: a sample of its policy, and random actions while it warms up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from rlk.protocols import Actor
from rlk.records import Act, Array
from rlk_networks import Distribution, Policy, as_tensor


class PolicyActor:
    """A sample of the policy's distribution, or its mode; actions in the shape of the space."""

    def __init__(
        self,
        policy: Policy,
        distribution: Distribution,
        action_space: Any,
        rng: np.random.Generator,
        device: Any = "cpu",
    ) -> None:
        self.policy, self.distribution, self.rng, self.device = policy, distribution, rng, device
        self._shape = action_space.shape
        fast = policy.numpy_forward("pi")
        self._fast = fast[0] if fast is not None else None
        # To inherit from the protocol, which has it, is optional.
        self._action = getattr(distribution, "numpy_action", None) or (
            lambda parameters, noise: distribution.numpy_sample(parameters, noise)[0]
        )

    def start(self, n_envs: int) -> None:
        return None

    def metrics(self) -> dict[str, float]:
        return {}

    def act(
        self, observation: Any, carry: Any, episode_start: Array, deterministic: bool = False
    ) -> Act:
        parameters, distribution = self._parameters(observation), self.distribution
        if deterministic:
            action = distribution.numpy_mode(parameters)
        else:
            noise = distribution.noise(self.rng, len(parameters))
            action = self._action(parameters, noise)
        action = action.reshape(-1, *self._shape)
        return Act(action, distribution.env_action(action), None, {})

    def _parameters(self, observation: Any) -> Array:
        if self._fast is not None:
            return self._fast(observation)
        with torch.inference_mode():
            (parameters,) = self.policy(as_tensor(observation, self.device), "pi")
            array: Array = parameters.cpu().numpy()
            return array


class RandomExploration:
    """Uniform actions of all environments while it warms up, and now and then afterwards.

    Args:
        actor: whose actions are replaced, noise included.
        distribution, action_space: of the actions, which are kept in -1 to 1.
        rng: its own stream.
        probability: of a random action, for each environment and step.
        warms_up: () -> whether all actions are random now.
    """

    def __init__(
        self,
        actor: Actor,
        distribution: Distribution,
        action_space: Any,
        rng: np.random.Generator,
        probability: float,
        warms_up: Callable[[], bool],
    ) -> None:
        self.actor, self.start, self.metrics = actor, actor.start, actor.metrics
        self._env_action, self._shape = distribution.env_action, action_space.shape
        self._rng, self._probability, self._warms_up = rng, probability, warms_up

    def act(
        self, observation: Any, carry: Any, episode_start: Array, deterministic: bool = False
    ) -> Act:
        if deterministic:
            return self.actor.act(observation, carry, episode_start, deterministic)
        n, all_random = len(episode_start), self._warms_up()
        if not all_random and not self._probability:
            return self.actor.act(observation, carry, episode_start)
        chosen = np.full(n, all_random) | (self._rng.random(n) < self._probability)
        if not chosen.any():
            return self.actor.act(observation, carry, episode_start)
        action = self._rng.uniform(-1.0, 1.0, (n, *self._shape)).astype(np.float32)
        # Whoever carries something is asked even if all are random.
        if carry is not None or not chosen.all():
            inner = self.actor.act(observation, carry, episode_start)
            action[~chosen], carry = inner.action[~chosen], inner.carry
        return Act(action, self._env_action(action), carry, {})
