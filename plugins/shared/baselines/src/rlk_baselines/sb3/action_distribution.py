"""The distribution of actions that a policy gives for observations, with the methods of there.

Dimensions: B observations, P parameters of a distribution.
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
    """Of B observations; gradients flow through it into the policy.

    Actions are [B, ...]: of a Box as they are before they are clipped or scaled for the
    environment, [B, D]; all others as the environment numbers them, several axes made flat.

    Args:
        rule: rlk's functions of the parameters.
        parameters: float [B, P].
        action_space: of one environment.
        rng: where samples come from.
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
        found: Tensor = self._rule.log_prob(self.parameters, own)
        return found

    def entropy(self) -> Tensor | None:
        """In nats, float [B]; None where there is no formula."""
        try:
            found: Tensor = self._rule.entropy(self.parameters)
        except NotImplementedError:
            return None
        return found

    def sample(self) -> Tensor:
        """Actions that are drawn, by the stream of random numbers that `predict` draws from."""
        noise = torch.from_numpy(self._rule.noise(self._rng, len(self.parameters)))
        own = self._rule.sample(self.parameters, noise.to(self.parameters.device))
        return self._as_there(own)

    def mode(self) -> Tensor:
        """The likeliest actions."""
        return self._as_there(self._rule.mode(self.parameters))

    def get_actions(self, deterministic: bool = False) -> Tensor:
        """`mode` or `sample`."""
        return self.mode() if deterministic else self.sample()

    @property
    def distribution(self) -> Any:
        """The same as a distribution of torch; of MultiDiscrete actions, a list of them.

        Of actions that are squashed, it is that before squashing.

        Raises:
            Refused: if torch has none.
        """
        if isinstance(self._space, spaces.Discrete):
            return distributions.Categorical(logits=self.parameters)
        if isinstance(self._space, spaces.MultiDiscrete):
            each = torch.split_with_sizes(self.parameters, self._rule.sizes, -1)
            return [distributions.Categorical(logits=logits) for logits in each]
        if isinstance(self._space, spaces.MultiBinary):
            return distributions.Bernoulli(logits=self.parameters)
        if hasattr(self._rule, "gaussian"):  # with state-dependent exploration
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
        """The number of the first action, by which those of rlk differ, int64 [...]; often 0."""
        first = np.asarray(getattr(self._space, "start", 0), np.int64)
        if not first.any():
            return 0
        own = first.reshape(self._rule.action.shape)
        return torch.from_numpy(own).to(self.parameters.device)

    def _as_there(self, own: Tensor) -> Tensor:
        """Actions of rlk as the documented ones; switches are the floats 0 and 1."""
        is_binary = isinstance(self._space, spaces.MultiBinary)
        return own.float() if is_binary else own + self._first
