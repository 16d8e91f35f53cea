"""The actor of stochastic policies: a sample, and the policy's outputs that are stored."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rlk.records import Act, Array
from rlk_networks.distribution import Distribution
from rlk_networks.observations import as_tensor
from rlk_networks.policy import Policy
from rlk_networks.probabilities import TellsByDistribution

#: Ends the errors about a carry that does not fit.
STATE_TO_PASS = (
    "pass the state that the last call returned, and with the first call what start(n_envs) of the "
    "actor returns (agent.predict takes None instead)"
)


def mode(distribution: Distribution, parameters: Tensor) -> Act:
    """The most likely actions for parameters float [N, P], without extras."""
    action: Array = distribution.mode(parameters).cpu().numpy()
    return Act(action, distribution.env_action(action), None, {})


def sample(
    distribution: Distribution,
    parameters: Tensor,
    noise: Array,
    values: Sequence[Tensor],
    kept: Collection[str],
) -> Act:
    """Actions sampled from a distribution with this noise, and the extras to store.

    Args:
        distribution: of the actions.
        parameters: of it, float [N, P].
        noise: [N, ...], as the distribution draws it.
        values: the output of head `vf`, float [N, 1], or nothing.
        kept: which of `log_prob` and `parameters` to store.
    """
    action = distribution.sample(parameters, torch.from_numpy(noise).to(parameters.device))
    extras = {}
    if values:
        extras["value"] = values[0][:, 0].cpu().numpy()
    if "log_prob" in kept:
        extras["log_prob"] = distribution.log_prob(parameters, action).cpu().numpy()
    if "parameters" in kept:
        extras["parameters"] = parameters.cpu().numpy()
    array: Array = action.cpu().numpy()
    return Act(array, distribution.env_action(array), None, extras)


class DistributionActor(TellsByDistribution):
    """A sample of the distribution from head `pi`, and the extras to store.

    Args:
        policy: with heads `pi` and, if values are wanted, `vf`.
        distribution: of the actions.
        rng: the generator of the sampling noise.
        extras: those of `value`, `log_prob` and `parameters` (the distribution's, float [N, P])
            to store.
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
        parameters, *values = self.policy(as_tensor(observation, self.device), *self._heads)
        if deterministic:
            return mode(self.distribution, parameters)
        if noise is None:
            noise = self.distribution.noise(self.rng, len(parameters))
        return sample(self.distribution, parameters, noise, values, self.extras)

    @torch.inference_mode()
    def parameters(self, observation: Any, carry: Any, episode_start: Array) -> Tensor:
        """The parameters of the distribution, float [N, P], for the observations [N, ...]."""
        (parameters,) = self.policy(as_tensor(observation, self.device), "pi")
        return parameters
