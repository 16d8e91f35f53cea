"""What a distribution of actions must be able to do.

Dimensions: B batch, F features, N environments, P size of a distribution's flat parameters.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Protocol

import numpy as np
from torch import Tensor, nn

from rlk.records import Array, Field


class Distribution(Protocol):
    """Functions on flat parameter tensors [..., P]: no objects on the hot path.

    `sample` takes its noise from outside, so that it is pure, traceable, and the same in torch and
    numpy. To inherit from it is optional: what does, and lacks a method, is refused when it is
    loaded instead of where it is first missed.
    """

    parameter_size: int  #: P
    action: Field  #: shape of one action, and the dtype that storage keeps it in

    @abstractmethod
    def head(self, features: int) -> nn.Module:
        """From features [B, F] to parameters [B, P]."""

    @abstractmethod
    def noise(self, rng: np.random.Generator, batch: int) -> Array:
        """What `sample` takes, float32 [batch, ...]."""

    @abstractmethod
    def sample(self, parameters: Tensor, noise: Tensor) -> Tensor:
        """Actions of these parameters and this noise."""

    @abstractmethod
    def mode(self, parameters: Tensor) -> Tensor:
        """The likeliest action."""

    @abstractmethod
    def log_prob(self, parameters: Tensor, action: Tensor) -> Tensor:
        """Float [...]."""

    @abstractmethod
    def entropy(self, parameters: Tensor) -> Tensor:
        """Float [...]; NotImplementedError where there is no formula."""

    @abstractmethod
    def kl(self, parameters: Tensor, other: Tensor) -> Tensor:
        """KL(parameters || other), float [...]; NotImplementedError where there is no formula."""

    @abstractmethod
    def env_action(self, action: Array) -> Array:
        """Actions [N, ...] clipped or scaled into the environment's space."""

    @abstractmethod
    def numpy_sample(self, parameters: Array, noise: Array) -> tuple[Array, Array]:
        """(action, log_prob) for float32 [N, P]: the torch pair's, to float tolerance."""

    def numpy_action(self, parameters: Array, noise: Array) -> Array:
        """The action of `numpy_sample` alone, for whoever needs no more; it may be sooner."""
        return self.numpy_sample(parameters, noise)[0]

    @abstractmethod
    def numpy_mode(self, parameters: Array) -> Array:
        """The likeliest actions for float32 [N, P]."""
