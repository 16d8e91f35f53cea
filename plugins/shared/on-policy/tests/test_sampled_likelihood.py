from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
import torch

from rlk_categorical.distribution import Categorical
from rlk_diag_gaussian.distribution import DiagGaussian
from rlk_on_policy.sampled_likelihood import SampledLikelihood

LOGITS = torch.tensor([0.0, 1.0, -1.0])


def likelihood(distribution, seed=0):
    rng = np.random.default_rng(seed)
    return SampledLikelihood(distribution, lambda: rng)


def per_row(found, parameters):
    """The gradient of every row's own likelihood, of which `found` is the mean."""
    (gradient,) = torch.autograd.grad(found, parameters)
    return len(parameters) * gradient


def test_second_moments_of_its_gradients_are_the_fisher_matrix_of_a_categorical():
    logits = LOGITS.expand(40_000, 3).clone().requires_grad_()
    given = likelihood(Categorical(gym.spaces.Discrete(3)))(logits)
    gradients = per_row(given, logits)
    p = LOGITS.softmax(0)
    fisher = torch.diag(p) - torch.outer(p, p)
    assert torch.allclose(gradients.T @ gradients / 40_000, fisher, atol=0.01)


def test_second_moments_of_its_gradients_are_the_fisher_matrix_of_a_gaussian():
    space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)
    parameters = torch.tensor([0.3, -0.7]).expand(40_000, 2).clone().requires_grad_()
    gradients = per_row(likelihood(DiagGaussian(space))(parameters), parameters)
    expected = torch.diag(torch.tensor([float(np.exp(1.4)), 2.0]))  # 1 / std^2, and 2 for log std
    assert torch.allclose(gradients.T @ gradients / 40_000, expected, atol=0.1)


@pytest.mark.parametrize("weight", [0.5, 1.0])
def test_a_value_adds_its_weighted_squared_error_to_a_sample_of_its_own(weight):
    logits, value = torch.zeros(20_000, 3), torch.full((20_000,), 5.0, requires_grad=True)
    given = likelihood(Categorical(gym.spaces.Discrete(3)))(logits, value, weight)
    # The error of a sample is 1 in the mean square; the actions' likelihood is log(1 / 3).
    assert given.item() == pytest.approx(np.log(1 / 3) - weight, abs=0.03)
    gradients = per_row(given, value)
    assert gradients.mean().item() == pytest.approx(0.0, abs=0.05)
    assert gradients.square().mean().item() == pytest.approx(4 * weight**2, rel=0.05)


def test_the_stream_is_asked_for_at_the_first_call_and_decides_what_is_drawn():
    asked = []

    def stream():
        asked.append(1)
        return np.random.default_rng(3)

    categorical = Categorical(gym.spaces.Discrete(3))
    made = SampledLikelihood(categorical, stream)
    assert not asked
    logits = torch.randn(8, 3, generator=torch.Generator().manual_seed(0))
    assert made(logits).equal(made(logits)) and len(asked) == 2
    assert not made(logits).equal(likelihood(categorical, seed=4)(logits))
