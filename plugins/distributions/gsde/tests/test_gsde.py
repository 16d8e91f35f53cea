from __future__ import annotations

import math

import attrs
import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import tensor

from rlk.errors import PlanError, RlkError
from rlk_diag_gaussian.distribution import DiagGaussian
from rlk_gsde.config import GSDEConfig
from rlk_gsde.distribution import EPSILON, GSDE
from rlk_gsde.head import expln
from rlk_squashed_gaussian.squashing import log_derivative
from rlk_testing import DistributionContract

HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
BOX = gym.spaces.Box(np.array([-1.0, 0.0], np.float32), np.array([2.0, 0.5], np.float32))
FEATURES = 3


class Contract(DistributionContract):
    """How many parameters there are is known once there is a head."""

    component = "gsde"

    def tried(self):
        found = super().tried()
        for _, distribution in found:
            distribution.head(FEATURES)
        return found


class TestGSDE(Contract):
    pass


class TestSquashed(Contract):
    settings = {"squash_output": True}
    spread = 0.15  # farther out, an action in float32 does not tell which number was squashed


def made(features=FEATURES, space=BOX, **settings):
    distribution = GSDE(space, GSDEConfig(**settings))
    return distribution, distribution.head(features)


def two_features(**settings):
    """One action of two features: sigma is (1/2, 1/4), mean = x1."""
    space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)
    distribution, head = made(2, space, **settings)
    with torch.no_grad():
        head.mean.weight.copy_(tensor([[1.0], [0.0]]))
        head.log_std.copy_(tensor([[0.5], [0.25]]).log())
    return distribution, head


# ---- settings ------------------------------------------------------------------------------------


def test_defaults_are_those_of_stable_baselines3():
    assert attrs.asdict(GSDEConfig()) == {
        "log_std_init": 0.0,
        "full_std": True,
        "use_expln": False,
        "squash_output": False,
        "clip_mean": None,
        "learn_features": False,
        "sample_freq": -1,
    }


@pytest.mark.parametrize("wrong", [-20.1, 20.1, math.nan])
def test_an_initial_spread_with_which_float32_overflows_is_refused(wrong):
    with pytest.raises(ValueError, match="log_std_init"):
        GSDEConfig(log_std_init=wrong)
    for widest in (-20.0, 20.0):
        assert GSDEConfig(log_std_init=widest).log_std_init == widest


@pytest.mark.parametrize("wrong", [0, -2])
def test_noise_is_held_for_some_steps_or_for_a_collection(wrong):
    with pytest.raises(ValueError, match="sample_freq"):
        GSDEConfig(sample_freq=wrong)
    assert GSDE(BOX).hold_steps is None
    assert GSDE(BOX, GSDEConfig(sample_freq=4)).hold_steps == 4


def test_without_a_head_there_are_no_features_to_draw_noise_for():
    distribution = GSDE(BOX)
    for ask in (lambda: distribution.parameter_size, lambda: distribution.features):
        with pytest.raises(RlkError, match=r"'gsde' \(rlk-gsde\).*head\(features\)"):
            ask()
    distribution.head(5)
    assert distribution.parameter_size == 2 + 5 * 2
    assert distribution.noise(np.random.default_rng(0), 4).shape == (4, 5, 2)


# ---- the head ------------------------------------------------------------------------------------


def test_the_head_gives_the_mean_and_features_times_deviations():
    _, head = two_features()
    assert head(tensor([[3.0, -4.0]])).tolist() == [[3.0, pytest.approx(1.5), pytest.approx(-1.0)]]


@pytest.mark.parametrize(("clip_mean", "mean"), [(None, 3.0), (2.0, 2.0), (5.0, 3.0)])
def test_the_mean_is_clipped_where_that_is_asked_for(clip_mean, mean):
    _, head = two_features(clip_mean=clip_mean)
    for sign in (1.0, -1.0):
        found = head(sign * tensor([[3.0, -4.0]]))[0]
        assert found.tolist() == pytest.approx([sign * mean, sign * 1.5, -sign])


def test_first_actions_are_near_zero_and_as_wide_as_the_features_are_long():
    torch.manual_seed(0)
    distribution, head = made(8, log_std_init=-0.5)
    features = torch.randn(5, 8)
    mean, log_std = distribution.gaussian(head(features)).chunk(2, -1)
    assert mean.abs().max().item() < 0.1
    expected = features.norm(dim=1).log() - 0.5
    assert torch.allclose(log_std, expected[:, None].expand(-1, 2), atol=1e-5)


def test_one_deviation_for_each_feature_is_that_of_all_actions():
    _, head = made(full_std=False, log_std_init=0.3)
    assert head.log_std.shape == (FEATURES, 1) and made()[1].log_std.shape == (FEATURES, 2)
    assert head.deviations().tolist() == [[pytest.approx(math.exp(0.3))] * 2] * FEATURES
    assert head(torch.randn(4, FEATURES)).shape == (4, 2 + FEATURES * 2)


@pytest.mark.parametrize("learnt", [False, True])
def test_features_are_trained_by_the_spread_where_they_are_to_be(learnt):
    distribution, head = two_features(learn_features=learnt)
    features = tensor([[3.0, -4.0]], requires_grad=True)
    distribution.entropy(head(features)).sum().backward()
    # d/dx of log(x1^2 / 4 + x2^2 / 16) / 2, with the variance 9 / 4 + 16 / 16.
    expected = [3.0 / 4 / 3.25, -4.0 / 16 / 3.25] if learnt else [0.0, 0.0]
    assert features.grad[0].tolist() == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    ("x", "found"), [(-2.0, math.exp(-2.0)), (0.0, 1.0), (1.0, math.log(2.0) + 1), (100.0, 5.6151)]
)
def test_expln_by_hand(x, found):
    assert expln(tensor(x)).item() == pytest.approx(found, rel=1e-5)


def test_expln_is_smooth_and_its_gradient_finite_wherever_exp_is_not():
    x = tensor([-200.0, -1e-4, 1e-4, 200.0], requires_grad=True)
    (gradient,) = torch.autograd.grad(expln(x).sum(), x)
    assert gradient.tolist() == pytest.approx([0.0, 1.0, 1.0, 1 / 201], abs=1e-3)


def test_deviations_are_expln_of_the_parameter_where_asked_for():
    _, head = made(use_expln=True, log_std_init=1.0)
    assert head.deviations()[0].tolist() == [pytest.approx(math.log(2.0) + 1)] * 2


# ---- formulas by hand ----------------------------------------------------------------------------


def test_a_sample_is_the_mean_and_the_weighted_features():
    distribution, head = two_features()
    parameters = head(tensor([[3.0, -4.0]]))
    found = distribution.sample(parameters, tensor([[[2.0], [-1.0]]]))
    assert found.item() == pytest.approx(3.0 + 1.5 * 2.0 + (-1.0) * (-1.0))
    assert distribution.mode(parameters).item() == 3.0


def test_held_noise_is_a_function_of_the_state():
    """The same weights in another state: what is added is linear in the features."""
    distribution, head = two_features()
    noise = tensor([[[2.0], [-1.0]]])
    for x1, x2 in ((3.0, -4.0), (6.0, -8.0), (0.0, 1.0)):
        parameters = head(tensor([[x1, x2]]))
        added = distribution.sample(parameters, noise) - distribution.mode(parameters)
        assert added.item() == pytest.approx(x1 * 1.0 + x2 * -0.25)


def test_log_prob_by_hand():
    distribution, head = two_features()
    # The variance is 1.5^2 + 1^2 = 3.25, and the action one and a half away from the mean.
    found = distribution.log_prob(head(tensor([[3.0, -4.0]])), tensor([[4.5]]))
    expected = -0.5 * 1.5**2 / 3.25 - 0.5 * math.log(3.25) - HALF_LOG_2PI
    assert found.item() == pytest.approx(expected, abs=1e-5)


def test_entropy_by_hand():
    distribution, head = two_features()
    found = distribution.entropy(head(tensor([[3.0, -4.0]])))
    assert found.item() == pytest.approx(0.5 * math.log(3.25) + HALF_LOG_2PI + 0.5, abs=1e-5)


def test_divergence_by_hand():
    distribution, head = two_features()
    one, other = head(tensor([[3.0, -4.0]])), head(tensor([[2.0, 0.0]]))
    # N(3, 3.25) from N(2, 1).
    expected = 0.5 * math.log(1.0 / 3.25) + (3.25 + 1.0) / 2 - 0.5
    assert distribution.kl(one, other).item() == pytest.approx(expected, abs=1e-4)


def test_log_prob_is_that_of_the_diagonal_gaussian_over_all_draws():
    generator = torch.Generator().manual_seed(0)
    distribution, _ = made()
    parameters = torch.randn(50, distribution.parameter_size, generator=generator)
    action = torch.randn(50, 2, generator=generator)
    weighted = parameters[:, 2:].reshape(50, FEATURES, 2)
    std = (weighted.double().square().sum(1) + EPSILON).sqrt()
    normal = torch.distributions.Normal(parameters[:, :2].double(), std)
    expected = normal.log_prob(action.double()).sum(1)
    assert torch.allclose(distribution.log_prob(parameters, action).double(), expected, rtol=1e-4)


def test_where_all_features_are_zero_there_is_still_a_density():
    distribution, head = made()
    parameters = head(torch.zeros(1, FEATURES))
    found = distribution.log_prob(parameters, distribution.mode(parameters))
    assert found.item() == pytest.approx(-math.log(EPSILON) - 2 * HALF_LOG_2PI, rel=1e-5)
    (gradient,) = torch.autograd.grad(found.sum(), head.log_std)
    assert bool(torch.isfinite(gradient).all())


# ---- squashing -----------------------------------------------------------------------------------


def test_squashed_actions_are_the_tanh_and_their_density_is_changed_by_it():
    distribution, head = two_features(squash_output=True)
    parameters = head(tensor([[0.5, -0.4]]))
    before = 0.5 + 0.25 * 1.0 - 0.1 * 2.0
    action = distribution.sample(parameters, tensor([[[1.0], [2.0]]]))
    assert action.item() == pytest.approx(math.tanh(before))
    variance = 0.25**2 + 0.1**2
    gaussian = -0.5 * 0.05**2 / variance - 0.5 * math.log(variance) - HALF_LOG_2PI
    expected = gaussian - math.log(1.0 - math.tanh(before) ** 2)
    assert distribution.log_prob(parameters, action).item() == pytest.approx(expected, abs=1e-3)
    # The same action, drawn with noise of its own: 0.05 is so many standard deviations.
    noise = tensor([[0.05 / math.sqrt(variance)]])
    found, log_prob = distribution.sample_with_log_prob(parameters, noise)
    assert found.item() == pytest.approx(action.item(), abs=1e-6)
    assert log_prob.item() == pytest.approx(expected, abs=1e-3)
    assert distribution.mode(parameters).item() == pytest.approx(math.tanh(0.5))


def test_the_log_prob_of_a_sample_is_exact_where_the_action_is_rounded_to_one():
    distribution, _ = made(1, gym.spaces.Box(-1.0, 1.0, (1,), np.float32), squash_output=True)
    action, log_prob = distribution.sample_with_log_prob(tensor([[20.0, 1.0]]), tensor([[0.5]]))
    expected = -0.125 - HALF_LOG_2PI - log_derivative(tensor(20.5)).item()
    assert action.item() == 1.0 and log_prob.item() == pytest.approx(expected, rel=1e-5)


def test_samples_without_squashing_have_their_log_prob_beside_them():
    distribution, _ = made()
    parameters = torch.randn(6, distribution.parameter_size)
    noise = torch.from_numpy(distribution.independent_noise(np.random.default_rng(0), 6))
    action, log_prob = distribution.sample_with_log_prob(parameters, noise)
    assert torch.allclose(log_prob, distribution.log_prob(parameters, action))


def test_independent_noise_gives_the_actions_that_weights_of_their_own_would_give():
    distribution, _ = made()
    rows, rng = 40_000, np.random.default_rng(0)
    parameters = torch.randn(1, distribution.parameter_size).expand(rows, -1)
    weights = torch.from_numpy(distribution.noise(rng, rows))
    by_weights = distribution.sample(parameters, weights)
    noise = distribution.independent_noise(rng, rows)
    assert noise.shape == (rows, 2) and noise.dtype == np.float32
    by_noise, _ = distribution.sample_with_log_prob(parameters, torch.from_numpy(noise))
    # Of 40,000 the standard error of a mean is 0.005 deviations, that of a deviation 0.4 %.
    spread = by_weights.std(0)
    assert bool(((by_weights.mean(0) - by_noise.mean(0)).abs() < 0.03 * spread).all())
    assert torch.allclose(by_noise.std(0), spread, rtol=0.02)


def test_gradients_of_samples_reach_the_mean_and_the_deviations():
    distribution, head = two_features(squash_output=True, clip_mean=2.0)
    parameters = head(tensor([[3.0, -4.0], [0.5, 0.1]]))
    action, log_prob = distribution.sample_with_log_prob(parameters, tensor([[0.3], [-0.2]]))
    (action + log_prob[:, None]).sum().backward()
    assert head.log_std.grad.ne(0).all() and head.mean.weight.grad.ne(0).all()


def test_the_divergence_of_squashed_actions_is_that_of_the_gaussians():
    plain, _ = made()
    squashed, _ = made(squash_output=True)
    generator = torch.Generator().manual_seed(0)
    one, other = (torch.randn(9, plain.parameter_size, generator=generator) for _ in range(2))
    assert torch.equal(squashed.kl(one, other), plain.kl(one, other))
    gaussian = DiagGaussian(BOX).kl(plain.gaussian(one), plain.gaussian(other))
    assert torch.equal(plain.kl(one, other), gaussian)


def test_the_environment_gets_actions_clipped_or_scaled_into_its_bounds():
    action = np.array([[-5.0, 5.0], [1.0, 0.25]], np.float32)
    assert made()[0].env_action(action).tolist() == [[-1.0, 0.5], [1.0, 0.25]]
    squashed = np.array([[-1.0, 1.0], [0.0, -0.5]], np.float32)
    found = made(squash_output=True)[0].env_action(squashed)
    assert found.tolist() == [[-1.0, 0.5], [0.5, 0.125]]


def test_a_space_without_bounds_cannot_be_squashed():
    endless = gym.spaces.Box(-np.inf, np.inf, (2,), np.float32)
    GSDE(endless)
    with pytest.raises(PlanError, match="a bound is infinite"):
        GSDE(endless, GSDEConfig(squash_output=True))


def test_probabilities_told_of_wide_squashed_actions_are_those_of_log_prob():
    """The spread has no largest value here: 16 is beyond that of SAC's squashed Gaussian."""
    distribution, _ = made(1, gym.spaces.Box(-1.0, 1.0, (1,), np.float32), squash_output=True)
    parameters, action = tensor([[8.0, 16.0]]), tensor([[0.5]])
    expected = distribution.log_prob(parameters, action)
    assert torch.equal(distribution.env_log_prob(parameters, action), expected)
    u = torch.linspace(-80.0, 96.0, 20_001, dtype=torch.float64)
    density = torch.exp(-0.5 * ((u - 8.0) / 16.0) ** 2 - HALF_LOG_2PI) / 16.0
    first = torch.trapezoid(density * u.tanh(), u).item()
    second = torch.trapezoid(density * u.tanh() ** 2, u).item()
    mean, deviation = distribution.probabilities(parameters)
    assert mean.item() == pytest.approx(first, abs=0.01)
    assert deviation.item() == pytest.approx(math.sqrt(second - first**2), abs=0.01)
