"""How likely actions are, for `Agent.action_probability`.

Here actions are those of the environment, with the numbers and the scale of its space. Dimensions:
B batch, P a distribution's flat parameters.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Protocol

import torch
from torch import Tensor

from rlk.abilities import offers
from rlk.errors import RlkError
from rlk.records import Array
from rlk_networks.distribution import Distribution


class HasProbabilities(Protocol):
    """A distribution that tells how likely the environment's actions are."""

    def probabilities(self, parameters: Tensor) -> Tensor | tuple[Tensor, ...]:
        """For parameters [B, P], by the kind of the action space.

        Discrete: of every action, [B, A]. MultiDiscrete: of every option of each of its K choices,
        a tuple of K tensors [B, n_k]. MultiBinary: of every switch being on, [B, *shape]. Box: mean
        and standard deviation, two tensors [B, *shape]; if actions are clipped into the space,
        those before clipping.
        """

    def env_log_prob(self, parameters: Tensor, action: Tensor) -> Tensor:
        """The log-probability, or log-density, of actions [B, *shape] of the environment, [B]."""


class TellsByDistribution:
    """A base of actors that tell the probabilities of their distribution's actions.

    They then offer `rlk.abilities.TellsProbabilities`.

    Attributes:
        distribution: of its actions.
    """

    distribution: Distribution

    @abstractmethod
    def parameters(self, observation: Any, carry: Any, episode_start: Array) -> Tensor:
        """The distribution's flat parameters, [N, P], without gradient."""

    def probabilities(
        self, observation: Any, carry: Any, episode_start: Array
    ) -> Array | list[Array]:
        """As `Agent.action_probability` says, with a leading axis."""
        parameters = self.parameters(observation, carry, episode_start)
        return env_probabilities(self.distribution, parameters)

    def log_prob(
        self, observation: Any, carry: Any, episode_start: Array, env_action: Array
    ) -> Array:
        """The log-probability of the environment's actions, float [N]."""
        parameters = self.parameters(observation, carry, episode_start)
        return env_log_prob(self.distribution, parameters, env_action)


def env_probabilities(distribution: Distribution, parameters: Tensor) -> Array | list[Array]:
    """`distribution.probabilities` of parameters [B, P], as an array or a list of them."""
    found = _telling(distribution).probabilities(parameters)
    if isinstance(found, Tensor):
        array: Array = found.cpu().numpy()
        return array
    return [part.cpu().numpy() for part in found]


def env_log_prob(distribution: Distribution, parameters: Tensor, action: Array) -> Array:
    """The log-probability of actions [B, *shape] of the environment, float [B]."""
    given = torch.from_numpy(action).to(parameters.device)
    return _telling(distribution).env_log_prob(parameters, given).cpu().numpy()


def _telling(distribution: Distribution) -> HasProbabilities:
    """The distribution, if it tells probabilities; otherwise RlkError."""
    if not offers(distribution, HasProbabilities):
        raise RlkError(
            f"the distribution {type(distribution).__name__} does not tell the probabilities of "
            "actions: it needs the methods of rlk_networks.HasProbabilities."
        )
    return distribution  # type: ignore[return-value]
