"""The actor of stochastic policies: a sample, and what of the policy's outputs storage keeps."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from rlk.records import Act, Array
from rlk_networks.distribution import Distribution
from rlk_networks.observations import as_tensor
from rlk_networks.policy import Policy
from rlk_networks.probabilities import TellsItsProbabilities


class DistributionActor(TellsItsProbabilities):
    """A sample of the distribution that head `pi` gives, and the extras that storage keeps.

    Args:
        policy: with heads `pi` and, where values are wanted, `vf`.
        distribution: of the actions.
        rng: where the noise of sampling comes from.
        extras: of `value`, `log_prob` and `parameters` (the distribution's, float [N, P]), those
            that storage keeps.
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
        self._heads = ("pi", "vf") if "value" in extras else ("pi",)

    def start(self, n_envs: int) -> None:
        return None

    def metrics(self) -> dict[str, float]:
        return {}

    @torch.inference_mode()
    def act(
        self,
        observation: Any,
        carry: Any,
        episode_start: Array,
        deterministic: bool = False,
        noise: Array | None = None,
    ) -> Act:
        """As every actor.

        Args:
            noise: of the sample, [N, ...]; None draws it.
        """
        distribution = self.distribution
        parameters, *values = self.policy(as_tensor(observation, self.device), *self._heads)
        if deterministic:
            array = distribution.mode(parameters).cpu().numpy()
            return Act(array, distribution.env_action(array), None, {})
        if noise is None:
            noise = distribution.noise(self.rng, len(parameters))
        action = distribution.sample(parameters, torch.from_numpy(noise).to(self.device))
        extras = {}
        if values:
            extras["value"] = values[0][:, 0].cpu().numpy()
        if "log_prob" in self.extras:
            extras["log_prob"] = distribution.log_prob(parameters, action).cpu().numpy()
        if "parameters" in self.extras:
            extras["parameters"] = parameters.cpu().numpy()
        array = action.cpu().numpy()
        return Act(array, distribution.env_action(array), None, extras)

    @torch.inference_mode()
    def parameters(self, observation: Any, carry: Any, episode_start: Array) -> Tensor:
        (parameters,) = self.policy(as_tensor(observation, self.device), "pi")
        found: Tensor = parameters
        return found
