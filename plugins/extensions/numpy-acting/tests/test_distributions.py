"""Distributions in numpy against torch, and that all of this repository's are known."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
import torch

from rlk_bernoulli.distribution import Bernoulli
from rlk_categorical.distribution import Categorical
from rlk_diag_gaussian.distribution import DiagGaussian
from rlk_gsde.config import GSDEConfig
from rlk_gsde.distribution import GSDE
from rlk_multi_categorical.distribution import MultiCategorical
from rlk_numpy_acting.distributions import distribution_of
from rlk_numpy_acting.forward import StaysInTorch
from rlk_squashed_gaussian.distribution import SquashedGaussian

BOX = gym.spaces.Box(np.array([-1.0, 0.0], np.float32), np.array([2.0, 0.5], np.float32))


def gsde(**settings):
    """With a head of three features, which tells how much noise there is."""
    made = GSDE(BOX, GSDEConfig(**settings))
    made.head(3)
    return made


MADE = {
    "categorical": Categorical(gym.spaces.Discrete(3)),
    "multi-categorical": MultiCategorical(gym.spaces.MultiDiscrete([2, 3])),
    "bernoulli": Bernoulli(gym.spaces.MultiBinary(3)),
    "diag-gaussian": DiagGaussian(BOX),
    "squashed-gaussian": SquashedGaussian(BOX),
    "gsde": gsde(),
}
TRIED = {**MADE, "gsde-squashed": gsde(squash_output=True)}
every = pytest.mark.parametrize("distribution", TRIED.values(), ids=list(TRIED))


@every
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("spread", [0.3, 2.0])
def test_samples_log_probs_and_modes_equal_those_of_torch(distribution, seed, spread):
    generator = torch.Generator().manual_seed(seed)
    parameters = spread * torch.randn(200, distribution.parameter_size, generator=generator)
    noise = distribution.noise(np.random.default_rng(seed), 200)
    formulas = distribution_of(distribution)
    given = parameters.numpy().copy()
    action, log_prob = formulas.sample_with_log_prob(given, noise)
    expected = distribution.sample(parameters, torch.from_numpy(noise))
    np.testing.assert_allclose(action, expected.numpy(), atol=1e-5, rtol=1e-5)
    assert action.dtype == expected.numpy().dtype
    assert np.array_equal(action, formulas.sample(given, noise))
    wanted = distribution.log_prob(parameters, torch.from_numpy(action))
    np.testing.assert_allclose(log_prob, wanted.numpy(), atol=1e-4, rtol=1e-4)
    assert log_prob.dtype == np.float32
    mode = formulas.mode(given)
    np.testing.assert_allclose(mode, distribution.mode(parameters).numpy(), atol=1e-6)
    assert mode.dtype == expected.numpy().dtype
    assert np.array_equal(given, parameters.numpy()), "it wrote to its parameters"


@every
def test_log_probs_far_from_zero_are_finite(distribution):
    sign = np.where(np.arange(distribution.parameter_size) % 2, -1.0, 1.0).astype(np.float32)
    extreme = (1e4 * sign)[None]
    if isinstance(distribution, DiagGaussian):
        extreme = (50.0 * sign)[None]  # a standard deviation is e to the power of it
    noise = distribution.noise(np.random.default_rng(0), 1)
    action, log_prob = distribution_of(distribution).sample_with_log_prob(extreme, noise)
    assert np.isfinite(action).all() and np.isfinite(log_prob).all()


def test_a_log_prob_is_that_of_the_action_and_not_of_the_clipped_one():
    parameters = np.array([[50.0, 0.0, 0.0, 0.0]], np.float32)
    formulas = distribution_of(MADE["diag-gaussian"])
    action, log_prob = formulas.sample_with_log_prob(parameters, np.zeros((1, 2), np.float32))
    assert action.tolist() == [[50.0, 0.0]]
    assert log_prob.item() == pytest.approx(-np.log(2.0 * np.pi), abs=1e-6)


@pytest.mark.parametrize("name", ["diag-gaussian", "gsde"])
def test_a_log_prob_is_that_of_the_rounded_action(name):
    """A float32 of 1000 has steps of 6e-5; the spread is 2.5e-3."""
    distribution = DiagGaussian(BOX) if name == "diag-gaussian" else gsde()
    parameters = np.full((1000, distribution.parameter_size), np.log(2.5e-3), np.float32)
    if name == "gsde":
        parameters = np.exp(parameters)
    parameters[:, :2] = 1000.0
    noise = distribution.noise(np.random.default_rng(0), 1000)
    action, log_prob = distribution_of(distribution).sample_with_log_prob(parameters, noise)
    wanted = distribution.log_prob(torch.from_numpy(parameters), torch.from_numpy(action))
    np.testing.assert_allclose(log_prob, wanted.numpy(), atol=1e-4)


def test_an_option_that_a_choice_lacks_is_never_taken():
    formulas = distribution_of(MADE["multi-categorical"])
    low = np.full((1, 5), -1e6, np.float32)
    assert formulas.mode(low).tolist() == [[0, 0]]
    assert formulas.sample(low, np.zeros((1, 5), np.float32)).tolist() == [[0, 0]]


class Another(Categorical):
    """A subclass, which may have other formulas."""


@pytest.mark.parametrize("unknown", [Another(gym.spaces.Discrete(2)), object()])
def test_what_is_not_known_stays_in_torch(unknown):
    with pytest.raises(StaysInTorch):
        distribution_of(unknown)


#: The logarithm of the gamma function has no numpy.
LEFT_TO_TORCH = {"beta"}


def test_every_distribution_of_this_repository_is_known_or_left_to_torch(rlk_kernel):
    installed = {entry.name: entry for entry in rlk_kernel.registries.distributions}
    ours = {name for name, entry in installed.items() if (entry.dist or "").startswith("rlk-")}
    assert ours == set(MADE) | LEFT_TO_TORCH
