"""The distributions that act in numpy (all but `beta`), found by their exact type.

Their parameters are flat, float32 [N, P]. Each formula is derived and cited in the distribution's
own file. Here log-probabilities are those of the sample just drawn, which is cheaper than for any
action; they equal what an update will compute for the stored action.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rlk.records import Array
from rlk_bernoulli.distribution import Bernoulli
from rlk_categorical.distribution import Categorical
from rlk_diag_gaussian.distribution import DiagGaussian
from rlk_gsde.distribution import EPSILON, GSDE
from rlk_multi_categorical.distribution import ABSENT, MultiCategorical
from rlk_networks import FORBIDDEN
from rlk_numpy_acting.forward import StaysInTorch
from rlk_squashed_gaussian import squashing
from rlk_squashed_gaussian.distribution import LOG_STD_MAX, LOG_STD_MIN, SquashedGaussian

HALF_LOG_2PI = np.float32(0.5 * math.log(2.0 * math.pi))
LOG_2 = np.float32(math.log(2.0))
_FORBIDDEN = np.float32(FORBIDDEN)
LARGEST = np.float32(squashing.LARGEST)


@dataclass(frozen=True)
class NumpyDistribution:
    """The functions of a distribution that an actor needs.

    Attributes:
        sample: (parameters, noise) -> actions.
        sample_with_log_prob: (parameters, noise) -> actions and their log-probabilities [N].
        mode: parameters -> the actions without noise.
        masked: (parameters, mask [N, M]) -> those of the allowed actions; None if masks are not
            supported.
    """

    sample: Callable[[Array, Array], Array]
    sample_with_log_prob: Callable[[Array, Array], tuple[Array, Array]]
    mode: Callable[[Array], Array]
    masked: Callable[[Array, Array], Array] | None = None


def distribution_of(distribution: Any) -> NumpyDistribution:
    """The numpy version of a distribution.

    Raises:
        StaysInTorch: for an unknown type.
    """
    make = _DISTRIBUTIONS.get(type(distribution))
    if make is None:
        raise StaysInTorch(f"distribution {type(distribution).__name__}")
    return make(distribution)


def _categorical(distribution: Categorical) -> NumpyDistribution:
    def sample(logits: Array, noise: Array) -> Array:
        return (logits + noise).argmax(1)

    def sample_with_log_prob(logits: Array, noise: Array) -> tuple[Array, Array]:
        action = sample(logits, noise)
        shifted = logits - np.maximum.reduce(logits, axis=1, keepdims=True)
        log_sum = np.log(np.add.reduce(np.exp(shifted), axis=1))
        return action, shifted[np.arange(len(action)), action] - log_sum

    def mode(logits: Array) -> Array:
        return logits.argmax(1)

    return NumpyDistribution(sample, sample_with_log_prob, mode, _masked_logits)


def _multi_categorical(distribution: MultiCategorical) -> NumpyDistribution:
    sizes = distribution.sizes
    row = np.repeat(np.arange(len(sizes)), sizes)
    column = np.concatenate([np.arange(n) for n in sizes])

    def table(logits: Array) -> Array:
        """Logits [N, S] as [N, K, M]; `ABSENT` if a choice has fewer options."""
        padded = np.full((len(logits), len(sizes), max(sizes)), ABSENT, np.float32)
        padded[:, row, column] = logits
        return padded

    def sample(logits: Array, noise: Array) -> Array:
        return table(logits + noise).argmax(2)

    def sample_with_log_prob(logits: Array, noise: Array) -> tuple[Array, Array]:
        action = sample(logits, noise)
        shifted = table(logits)
        shifted -= shifted.max(2, keepdims=True)
        chosen = np.take_along_axis(shifted, action[:, :, None], 2)[:, :, 0]
        log_sum = np.log(np.exp(shifted).sum(2))
        return action, (chosen - log_sum).sum(1)

    def mode(logits: Array) -> Array:
        return table(logits).argmax(2)

    return NumpyDistribution(sample, sample_with_log_prob, mode, _masked_logits)


def _bernoulli(distribution: Bernoulli) -> NumpyDistribution:
    def sample(logits: Array, noise: Array) -> Array:
        return (logits + noise > 0).astype(np.int8)

    def sample_with_log_prob(logits: Array, noise: Array) -> tuple[Array, Array]:
        action = sample(logits, noise)
        log_prob = action * logits - np.logaddexp(np.float32(0.0), logits)
        return action, log_prob.sum(1)

    def mode(logits: Array) -> Array:
        return (logits > 0).astype(np.int8)

    def masked(logits: Array, mask: Array) -> Array:
        without_on = np.where(mask[:, 1::2], logits, _FORBIDDEN)
        return np.where(mask[:, ::2], without_on, -_FORBIDDEN)

    return NumpyDistribution(sample, sample_with_log_prob, mode, masked)


def _diag_gaussian(distribution: DiagGaussian) -> NumpyDistribution:
    size = distribution.size

    def sample(parameters: Array, noise: Array) -> Array:
        return parameters[:, :size] + np.exp(parameters[:, size:]) * noise

    def sample_with_log_prob(parameters: Array, noise: Array) -> tuple[Array, Array]:
        action, log_std = sample(parameters, noise), parameters[:, size:]
        scaled = (action - parameters[:, :size]) * np.exp(-log_std)  # the noise, but for rounding
        density = 0.5 * scaled * scaled + log_std + HALF_LOG_2PI
        return action, -density.sum(1)

    def mode(parameters: Array) -> Array:
        return parameters[:, :size].copy()

    return NumpyDistribution(sample, sample_with_log_prob, mode)


def _squashed_gaussian(distribution: SquashedGaussian) -> NumpyDistribution:
    size = distribution.size

    def before_tanh(parameters: Array, noise: Array) -> tuple[Array, Array]:
        """The Gaussian's sample, and log_std."""
        # Faster than `np.clip` for a few numbers.
        log_std = np.minimum(np.maximum(parameters[:, size:], LOG_STD_MIN), LOG_STD_MAX)
        return parameters[:, :size] + np.exp(log_std) * noise, log_std

    def sample(parameters: Array, noise: Array) -> Array:
        return np.tanh(before_tanh(parameters, noise)[0])

    def sample_with_log_prob(parameters: Array, noise: Array) -> tuple[Array, Array]:
        before, log_std = before_tanh(parameters, noise)
        action = np.tanh(before)
        stored = _unsquashed(action)
        scaled = (stored - parameters[:, :size]) * np.exp(-log_std)
        density = 0.5 * scaled * scaled + log_std + HALF_LOG_2PI + _log_derivative(stored)
        return action, -density.sum(1)

    def mode(parameters: Array) -> Array:
        return np.tanh(parameters[:, :size])

    return NumpyDistribution(sample, sample_with_log_prob, mode)


def _masked_logits(logits: Array, mask: Array) -> Array:
    return np.where(mask, logits, _FORBIDDEN)


def _gsde(distribution: GSDE) -> NumpyDistribution:
    size, squashes = distribution.size, distribution.squashes

    def weighted(parameters: Array) -> Array:
        return parameters[:, size:].reshape(len(parameters), -1, size)

    def sample(parameters: Array, noise: Array) -> Array:
        before: Array = parameters[:, :size] + (weighted(parameters) * noise).sum(1)
        return np.tanh(before) if squashes else before

    def sample_with_log_prob(parameters: Array, noise: Array) -> tuple[Array, Array]:
        parts, mean = weighted(parameters), parameters[:, :size]
        action = stored = mean + (parts * noise).sum(1)
        variance = (parts * parts).sum(1) + EPSILON
        if squashes:
            action = np.tanh(action)
            stored = _unsquashed(action)
        added = stored - mean
        density = 0.5 * (added * added / variance + np.log(variance)) + HALF_LOG_2PI
        if squashes:
            density += _log_derivative(stored)
        return action, -density.sum(1)

    def mode(parameters: Array) -> Array:
        mean = parameters[:, :size]
        return np.tanh(mean) if squashes else mean.copy()

    return NumpyDistribution(sample, sample_with_log_prob, mode)


def _unsquashed(action: Array) -> Array:
    """u with tanh(u) = action; for an action near 1, as far as float32 allows."""
    return np.arctanh(np.minimum(np.maximum(action, -LARGEST), LARGEST))


def _log_derivative(before: Array) -> Array:
    """log(1 - tanh(u)^2)."""
    softplus: Array = np.logaddexp(np.float32(0.0), -2.0 * before)
    return 2.0 * (LOG_2 - before - softplus)


_DISTRIBUTIONS: dict[type, Callable[[Any], NumpyDistribution]] = {
    Bernoulli: _bernoulli,
    Categorical: _categorical,
    DiagGaussian: _diag_gaussian,
    GSDE: _gsde,
    MultiCategorical: _multi_categorical,
    SquashedGaussian: _squashed_gaussian,
}
