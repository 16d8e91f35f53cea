"""The actor of on-policy actor-critics.

A sample of the policy, its log-probability and the value.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from rlk.records import Act, Array
from rlk_networks import Distribution, Policy, as_tensor


class DistributionActor:
    """The actor of algorithms with a `pi` head.

    A sample of the distribution, and what `extras` asks.

    Args:
        policy: with heads `pi` and, where values are wanted, `vf`.
        distribution: of the actions.
        rng: where the noise of sampling comes from.
        extras: of `value` and `log_prob`, those that storage keeps.
        device: of the policy.
    """

    def __init__(
        self,
        policy: Policy,
        distribution: Distribution,
        rng: np.random.Generator,
        extras: tuple[str, ...] = ("value", "log_prob"),
        device: Any = "cpu",
    ) -> None:
        self.policy, self.distribution, self.rng, self.device = policy, distribution, rng, device
        self.extras = extras
        self.heads = ("pi", "vf") if "value" in extras else ("pi",)
        self._fast = policy.numpy_forward(*self.heads)

    def start(self, n_envs: int) -> None:
        return None

    def metrics(self) -> dict[str, float]:
        return {}

    def act(
        self, observation: Any, carry: Any, episode_start: Array, deterministic: bool = False
    ) -> Act:
        if self._fast is not None:
            return self._act_numpy(observation, deterministic)
        return self._act_torch(observation, deterministic)

    def _act_numpy(self, observation: Any, deterministic: bool) -> Act:
        assert self._fast is not None
        distribution = self.distribution
        parameters = self._fast[0](observation)
        if deterministic:
            action = distribution.numpy_mode(parameters)
            return Act(action, distribution.env_action(action), None, {})
        noise = distribution.noise(self.rng, len(parameters))
        action, log_prob = distribution.numpy_sample(parameters, noise)
        extras = {}
        if len(self._fast) > 1:
            extras["value"] = self._fast[1](observation)[:, 0]
        if "log_prob" in self.extras:
            extras["log_prob"] = log_prob
        return Act(action, distribution.env_action(action), None, extras)

    @torch.inference_mode()
    def _act_torch(self, observation: Any, deterministic: bool) -> Act:
        distribution = self.distribution
        parameters, *rest = self.policy(as_tensor(observation, self.device), *self.heads)
        if deterministic:
            array = distribution.mode(parameters).cpu().numpy()
            return Act(array, distribution.env_action(array), None, {})
        noise = distribution.noise(self.rng, len(parameters))
        action = distribution.sample(parameters, torch.from_numpy(noise).to(self.device))
        extras = {}
        if rest:
            extras["value"] = rest[0][:, 0].cpu().numpy()
        if "log_prob" in self.extras:
            extras["log_prob"] = distribution.log_prob(parameters, action).cpu().numpy()
        array = action.cpu().numpy()
        return Act(array, distribution.env_action(array), None, extras)
