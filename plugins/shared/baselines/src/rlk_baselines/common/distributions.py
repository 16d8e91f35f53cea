"""Probability distributions of actions by the names of Stable Baselines, on torch tensors.

Each is made from the flat parameters [B, P] that a policy outputs. The formulas are those of rlk's
distributions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor

from rlk.errors import PlanError
from rlk_baselines.common.latent_heads import LatentHeads
from rlk_bernoulli.distribution import Bernoulli
from rlk_categorical.distribution import Categorical
from rlk_diag_gaussian.distribution import DiagGaussian
from rlk_multi_categorical.distribution import MultiCategorical


class ProbabilityDistribution:
    """The interface of distributions; the base class of custom ones."""

    def flatparam(self) -> Tensor:
        """The parameters, [B, P]."""
        raise NotImplementedError

    def mode(self) -> Tensor:
        """The most likely action, [B, …]."""
        raise NotImplementedError

    def neglogp(self, x: Any) -> Tensor:
        """The negative log-likelihood of actions [B, …], float [B]."""
        raise NotImplementedError

    def logp(self, x: Any) -> Tensor:
        """The log-likelihood of actions [B, …], float [B]: minus `neglogp`."""
        return -self.neglogp(x)

    def kl(self, other: Any) -> Tensor:
        """The Kullback-Leibler divergence KL(self || other) in nats, float [B]."""
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """The Shannon entropy in nats, float [B]."""
        raise NotImplementedError

    def sample(self) -> Tensor:
        """Actions drawn with torch's global generator, [B, …]."""
        raise NotImplementedError


class _OfRule(ProbabilityDistribution):
    """A distribution that uses rlk's functions of flat parameters.

    Args:
        flat: the parameters, [B, P], or [P] of a single distribution.
        rule: rlk's distribution.
    """

    def __init__(self, flat: Any, rule: Any) -> None:
        self.flat = torch.as_tensor(flat)
        self._rule = rule

    def flatparam(self) -> Tensor:
        return self.flat

    def mode(self) -> Tensor:
        return self._rule.mode(self.flat)

    def neglogp(self, x: Any) -> Tensor:
        found: Tensor = self._rule.log_prob(self.flat, torch.as_tensor(x))
        return -found

    def kl(self, other: Any) -> Tensor:
        return self._rule.kl(self.flat, other.flat)

    def entropy(self) -> Tensor:
        return self._rule.entropy(self.flat)

    def sample(self) -> Tensor:
        rng = np.random.default_rng(int(torch.randint(2**31, ())))
        several = self.flat.shape[:-1]
        noise = torch.as_tensor(self._rule.noise(rng, several.numel()))
        noise = noise.reshape(*several, *noise.shape[1:]).to(self.flat.device)
        return self._rule.sample(self.flat, noise)

    @classmethod
    def fromflat(cls, flat: Any) -> ProbabilityDistribution:
        """The distribution with these flat parameters, [B, P]."""
        return cls(flat)  # type: ignore[call-arg]


class CategoricalProbabilityDistribution(_OfRule):
    """A categorical distribution over A actions.

    Args:
        logits: [B, A].
    """

    def __init__(self, logits: Any) -> None:
        super().__init__(logits, Categorical(spaces.Discrete(torch.as_tensor(logits).shape[-1])))

    @property
    def logits(self) -> Tensor:
        """The logits, [B, A]."""
        return self.flat


class MultiCategoricalProbabilityDistribution(_OfRule):
    """K independent categorical distributions; the k-th is over `nvec[k]` options.

    Args:
        nvec: the numbers of options, [K].
        flat: their logits, concatenated, [B, sum of nvec].
    """

    def __init__(self, nvec: Any, flat: Any) -> None:
        self.nvec = np.asarray(nvec)
        super().__init__(flat, MultiCategorical(spaces.MultiDiscrete(self.nvec)))

    @property
    def categoricals(self) -> list[CategoricalProbabilityDistribution]:
        """The K categorical distributions."""
        parts = torch.split(self.flat, self.nvec.tolist(), -1)
        return [CategoricalProbabilityDistribution(part) for part in parts]

    @classmethod
    def fromflat(cls, flat: Any) -> ProbabilityDistribution:
        """Not possible: the parameters alone do not tell `nvec`."""
        raise NotImplementedError("make it of nvec and flat")


class DiagGaussianProbabilityDistribution(_OfRule):
    """A diagonal Gaussian in D dimensions.

    Args:
        flat: the mean, and the logarithm of the standard deviation, [B, 2 D].
    """

    def __init__(self, flat: Any) -> None:
        size = torch.as_tensor(flat).shape[-1] // 2
        super().__init__(flat, DiagGaussian(spaces.Box(-np.inf, np.inf, (size,), np.float32)))

    @property
    def mean(self) -> Tensor:
        """The mean, [B, D]."""
        return self.flat.chunk(2, -1)[0]

    @property
    def logstd(self) -> Tensor:
        """The logarithm of the standard deviation, [B, D]."""
        return self.flat.chunk(2, -1)[1]

    @property
    def std(self) -> Tensor:
        """The standard deviation, [B, D]."""
        return self.logstd.exp()


class BernoulliProbabilityDistribution(_OfRule):
    """K independent Bernoulli variables, 0 or 1.

    Args:
        logits: [B, K].
    """

    def __init__(self, logits: Any) -> None:
        super().__init__(logits, Bernoulli(spaces.MultiBinary(torch.as_tensor(logits).shape[-1])))

    @property
    def logits(self) -> Tensor:
        """The logits, [B, K]."""
        return self.flat

    @property
    def probabilities(self) -> Tensor:
        """The probabilities of 1, [B, K]."""
        return torch.sigmoid(self.flat)


class ProbabilityDistributionType:
    """The family of distributions for an action space, with its sizes; custom ones derive from it.

    P is the number of parameters of one distribution.
    """

    #: Whether half of the parameters are a log standard deviation that no observation changes.
    has_log_std: ClassVar[bool] = False
    #: The layers of `proba_distribution_from_latent`, which its first call makes.
    heads: LatentHeads | None = None

    def probability_distribution_class(self) -> Callable[..., Any]:
        """The class of the distributions."""
        raise NotImplementedError

    def proba_distribution_from_flat(self, flat: Any) -> Any:
        """The distribution with these flat parameters, [B, P]."""
        return self.probability_distribution_class()(flat)

    def proba_distribution_from_latent(
        self,
        pi_latent_vector: Tensor,
        vf_latent_vector: Tensor,
        init_scale: float = 1.0,
        init_bias: float = 0.0,
    ) -> tuple[Any, Tensor, Tensor]:
        """Compute the distribution from the last hidden layers, with a linear layer after each.

        The first call makes the linear layers; an optimiser trains `heads.parameters()`.

        Args:
            pi_latent_vector: the policy's last hidden layer, float [B, F].
            vf_latent_vector: the value function's last hidden layer, float [B, G].
            init_scale: the gain of the orthogonal initial weights of both linear layers.
            init_bias: the initial bias of both linear layers.

        Returns:
            The distribution, the output of the policy's linear layer [B, K] (the mean of a
            Gaussian, otherwise the logits), and Q values [B, K].
        """
        if self.heads is None:
            size = self.param_shape()[0] // (2 if self.has_log_std else 1)
            widths = pi_latent_vector.shape[-1], vf_latent_vector.shape[-1]
            self.heads = LatentHeads(*widths, size, init_scale, init_bias, self.has_log_std)
        flat, found, values = self.heads(pi_latent_vector, vf_latent_vector)
        return self.proba_distribution_from_flat(flat), found, values

    def param_shape(self) -> list[int]:
        """The shape of the parameters of one distribution, [P]."""
        raise NotImplementedError

    def sample_shape(self) -> list[int]:
        """The shape of one action."""
        raise NotImplementedError

    def sample_dtype(self) -> torch.dtype:
        """The dtype of actions."""
        raise NotImplementedError


class _OfSizes(ProbabilityDistributionType):
    """A family with fixed sizes: P, and the shape and dtype of an action."""

    distribution: ClassVar[type[ProbabilityDistribution]]

    def __init__(self, parameters: int, shape: list[int], dtype: torch.dtype) -> None:
        self._parameters, self._shape, self._dtype = parameters, shape, dtype

    def probability_distribution_class(self) -> Callable[..., Any]:
        return self.distribution

    def param_shape(self) -> list[int]:
        return [self._parameters]

    def sample_shape(self) -> list[int]:
        return self._shape

    def sample_dtype(self) -> torch.dtype:
        return self._dtype


class CategoricalProbabilityDistributionType(_OfSizes):
    """Categorical distributions over `n_cat` actions."""

    distribution = CategoricalProbabilityDistribution

    def __init__(self, n_cat: int) -> None:
        self.n_cat = int(n_cat)
        super().__init__(self.n_cat, [], torch.int64)


class MultiCategoricalProbabilityDistributionType(_OfSizes):
    """Several categorical distributions; the k-th is over `n_vec[k]` options."""

    distribution = MultiCategoricalProbabilityDistribution

    def __init__(self, n_vec: Any) -> None:
        self.n_vec = np.asarray(n_vec)
        super().__init__(int(self.n_vec.sum()), [len(self.n_vec)], torch.int64)

    def proba_distribution_from_flat(self, flat: Any) -> Any:
        return self.probability_distribution_class()(self.n_vec, flat)


class DiagGaussianProbabilityDistributionType(_OfSizes):
    """Diagonal Gaussians in `size` dimensions."""

    distribution = DiagGaussianProbabilityDistribution
    has_log_std = True

    def __init__(self, size: int) -> None:
        self.size = int(size)
        super().__init__(2 * self.size, [self.size], torch.float32)


class BernoulliProbabilityDistributionType(_OfSizes):
    """`size` Bernoulli variables."""

    distribution = BernoulliProbabilityDistribution

    def __init__(self, size: int) -> None:
        self.size = int(size)
        super().__init__(self.size, [self.size], torch.int8)


def make_proba_dist_type(ac_space: Any) -> ProbabilityDistributionType:
    """The family of distributions for an action space.

    Raises:
        PlanError: unless it is a Box, Discrete, MultiDiscrete or MultiBinary space.
        AssertionError: for a Box with more than one axis.
    """
    if isinstance(ac_space, spaces.Box):
        assert len(ac_space.shape) == 1, f"the action space has one axis, got {ac_space.shape}"
        return DiagGaussianProbabilityDistributionType(ac_space.shape[0])
    if isinstance(ac_space, spaces.Discrete):
        return CategoricalProbabilityDistributionType(int(ac_space.n))
    if isinstance(ac_space, spaces.MultiDiscrete):
        return MultiCategoricalProbabilityDistributionType(ac_space.nvec)
    if isinstance(ac_space, spaces.MultiBinary):
        return BernoulliProbabilityDistributionType(int(np.prod(ac_space.shape)))
    raise PlanError(
        f"there is no distribution for actions {ac_space}: only for Box, Discrete, MultiDiscrete "
        "and MultiBinary."
    )


def shape_el(tensor: Tensor, index: int) -> int:
    """The size of axis `index` of a tensor."""
    return int(tensor.shape[index])
