"""The interface of a distribution of actions.

Dimensions: B batch, F features, N environments, P size of a distribution's flat parameters.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Protocol

import numpy as np
from torch import Tensor, nn

from rlk.abilities import offers
from rlk.records import Array, Field


class Distribution(Protocol):
    """Functions on flat parameter tensors [..., P]; no objects are made per call.

    `sample` takes its noise as an argument, so it is a pure function that compilers can trace. The
    noise is drawn in numpy from a stream of the run.

    Results have the dtype and the device of the parameters, and each row is computed from the same
    row of the arguments. No function writes into its arguments or reads a number of a tensor.

    Inheriting from this class is optional. A subclass that lacks a method is refused when it is
    made, not where the method is first called.
    """

    parameter_size: int  #: P
    action: Field  #: shape of one action, and its dtype; storages may keep a wider one

    @abstractmethod
    def head(self, features: int) -> nn.Module:
        """From features [B, F] to parameters [B, P]."""

    @abstractmethod
    def noise(self, rng: np.random.Generator, batch: int) -> Array:
        """The noise that `sample` takes, float32 [batch, ...]."""

    @abstractmethod
    def sample(self, parameters: Tensor, noise: Tensor) -> Tensor:
        """Actions [..., *shape] for parameters [..., P] and the noise of as many."""

    @abstractmethod
    def mode(self, parameters: Tensor) -> Tensor:
        """The action without noise, [..., *shape]: the most likely one, or the median."""

    @abstractmethod
    def log_prob(self, parameters: Tensor, action: Tensor) -> Tensor:
        """The log-probability (or log-density) of these actions, float [...]."""

    @abstractmethod
    def entropy(self, parameters: Tensor) -> Tensor:
        """In nats, float [...]; NotImplementedError where there is no formula.

        Losses of on-policy algorithms then estimate it (`rlk_on_policy.loss_terms`).
        """

    @abstractmethod
    def kl(self, parameters: Tensor, other: Tensor) -> Tensor:
        """KL(parameters || other), float [...]; NotImplementedError where there is no formula."""

    @abstractmethod
    def env_action(self, action: Array) -> Array:
        """Actions [N, ...], clipped or scaled into the environment's space."""


class Reparameterised(Protocol):
    """A distribution whose actions have a gradient, and which returns their log-probabilities.

    SAC needs one. Actions are in -1 to 1; the environment gets them scaled to its bounds.
    """

    def independent_noise(self, rng: np.random.Generator, batch: int) -> Array:
        """The noise of `sample_with_log_prob`, float32 [batch, ...], independent for every row.

        It is the same as `noise`, unless that is to be held for many steps.
        """
        ...

    def sample_with_log_prob(self, parameters: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
        """(action [..., D], log_prob [...]), both differentiable with respect to the parameters."""
        ...


class HasOwnUnits(Protocol):
    """A distribution over the actions of a Box that are scaled for the environment."""

    def own_action(self, action: Tensor) -> Tensor:
        """Actions of the environment, float [..., D], in the distribution's own units."""
        ...


def own_action(distribution: Distribution, action: Tensor) -> Tensor:
    """Actions of the environment in a distribution's units, flat, float [..., D].

    They are unchanged if the distribution uses the environment's units.
    """
    known: Any = distribution
    if not offers(distribution, HasOwnUnits):
        return action
    return known.own_action(action)


#: The logit of a forbidden action: its probability is exactly 0. Not infinite, because 0 times
#: infinity is NaN, and exact in float32, so that differences of two of them are 0.
FORBIDDEN = -1e8


class Maskable(Protocol):
    """A distribution that can leave out actions that the environment forbids.

    With the parameters that `masked` returns, every other function is that of the distribution over
    only the allowed actions: probabilities, samples, entropy and divergence. No gradient flows
    into forbidden actions.
    """

    mask_size: int  #: M, the number of options in a mask

    def masked(self, parameters: Tensor, mask: Tensor) -> Tensor:
        """Parameters [..., P] of the allowed options of a mask [..., M], which is 0 or 1."""
        ...
