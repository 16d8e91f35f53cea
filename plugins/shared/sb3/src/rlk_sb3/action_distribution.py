"""A policy's distribution of actions, with the methods of Stable-Baselines3's distributions.

Shapes: B observations, P parameters of a distribution, D dimensions of an action.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor, distributions

from rlk_baselines.refusals import Refused
from rlk_diag_gaussian.distribution import DiagGaussian


class ActionDistribution:
    """The distributions of actions for B observations, differentiable in the policy's parameters.

    Actions of a Box are [B, D], before they are clipped or scaled for the environment. Other
    actions are numbered as in the environment, with several axes flattened to one.

    Args:
        rule: rlk's distribution.
        parameters: its flat parameters, float [B, P].
        action_space: of one environment.
        rng: the generator for samples.
    """

    def __init__(
        self, rule: Any, parameters: Tensor, action_space: Any, rng: np.random.Generator
    ) -> None:
        self.parameters = parameters
        self._rule, self._space, self._rng = rule, action_space, rng

    def log_prob(self, actions: Any) -> Tensor:
        """The log-probability, or log-density, of actions [B, ...], float [B]."""
        given = actions if isinstance(actions, Tensor) else torch.as_tensor(actions)
        given = given.to(self.parameters.device)
        own = given.reshape(self.parameters.shape[0], *self._rule.action.shape) - self._first
        return self._rule.log_prob(self.parameters, own)

    def entropy(self) -> Tensor | None:
        """The entropy in nats, float [B]; None if it has no closed form."""
        try:
            found: Tensor = self._rule.entropy(self.parameters)
        except NotImplementedError:
            return None
        return found

    def sample(self) -> Tensor:
        """Sampled actions, from the same random stream as those of `predict`."""
        noise = torch.from_numpy(self._rule.noise(self._rng, len(self.parameters)))
        own = self._rule.sample(self.parameters, noise.to(self.parameters.device))
        return self._as_there(own)

    def mode(self) -> Tensor:
        """The most likely actions."""
        return self._as_there(self._rule.mode(self.parameters))

    def get_actions(self, deterministic: bool = False) -> Tensor:
        """The result of `mode` or `sample`."""
        return self.mode() if deterministic else self.sample()

    @property
    def distribution(self) -> Any:
        """The distribution as one of torch; a list of them for MultiDiscrete actions.

        For squashed actions, it is the distribution before squashing.

        Raises:
            Refused: if torch has no such distribution.
        """
        if isinstance(self._space, spaces.Discrete):
            return distributions.Categorical(logits=self.parameters)
        if isinstance(self._space, spaces.MultiDiscrete):
            each = torch.split_with_sizes(self.parameters, self._rule.sizes, -1)
            return [distributions.Categorical(logits=logits) for logits in each]
        if isinstance(self._space, spaces.MultiBinary):
            return distributions.Bernoulli(logits=self.parameters)
        if hasattr(self._rule, "gaussian"):  # state-dependent exploration
            flat = self._rule.gaussian(self.parameters)
        elif isinstance(self._rule, DiagGaussian):
            flat = self.parameters
        else:
            raise Refused(
                f"torch has no distribution like {type(self._rule).__name__}. Use log_prob, "
                "entropy, sample and mode of get_distribution(obs) itself."
            )
        mean, log_std = flat.chunk(2, -1)
        return distributions.Normal(mean, log_std.exp())

    @property
    def _first(self) -> Tensor | int:
        """The `start` of the action space, int64 [...], which rlk's action numbers leave out."""
        first = np.asarray(getattr(self._space, "start", 0), np.int64)
        if not first.any():
            return 0
        own = first.reshape(self._rule.action.shape)
        return torch.from_numpy(own).to(self.parameters.device)

    def _as_there(self, own: Tensor) -> Tensor:
        """Convert rlk's actions to those of Stable-Baselines3; binary ones become floats."""
        is_binary = isinstance(self._space, spaces.MultiBinary)
        return own.float() if is_binary else own + self._first
