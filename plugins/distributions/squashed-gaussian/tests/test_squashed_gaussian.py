from __future__ import annotations

import math

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import tensor

from rlk.errors import PlanError
from rlk_squashed_gaussian.distribution import LOG_STD_MAX, LOG_STD_MIN, SquashedGaussian
from rlk_squashed_gaussian.squashing import log_derivative
from rlk_testing import DistributionContract

HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


class TestSquashedGaussian(DistributionContract):
    component = "squashed-gaussian"
    spread = 0.15  # farther out, an action in float32 does not tell which number was squashed


@pytest.fixture
def two():
    low, high = np.array([-1.0, 0.0], np.float32), np.array([2.0, 0.5], np.float32)
    return SquashedGaussian(gym.spaces.Box(low, high))


def parameters(mean, std):
    return torch.cat([tensor([mean]), torch.log(tensor([std]))], 1)


def test_a_sample_is_the_tanh_of_the_mean_and_the_noise_times_the_spread(two):
    found = two.sample(parameters([1.0, -1.0], [2.0, 0.5]), tensor([[0.5, -2.0]]))
    assert found[0].tolist() == pytest.approx([math.tanh(2.0), math.tanh(-2.0)])


def test_log_prob_by_hand(two):
    # Both were one standard deviation away before they were squashed.
    action = tensor([[math.tanh(3.0), math.tanh(0.5)]])
    found = two.log_prob(parameters([1.0, 0.0], [2.0, 0.5]), action)
    gaussian = -0.5 - math.log(2.0) - HALF_LOG_2PI - 0.5 - math.log(0.5) - HALF_LOG_2PI
    squashing = math.log(1 - math.tanh(3.0) ** 2) + math.log(1 - math.tanh(0.5) ** 2)
    assert found.item() == pytest.approx(gaussian - squashing, abs=1e-4)


def test_log_prob_equals_that_of_torch(two):
    generator = torch.Generator().manual_seed(0)
    given = 0.5 * torch.randn(50, 4, generator=generator)
    noise = torch.randn(50, 2, generator=generator)
    action, log_prob = two.sample_with_log_prob(given, noise)
    normal = torch.distributions.Normal(given[:, :2], given[:, 2:].exp())
    squashed = torch.distributions.TransformedDistribution(
        normal, [torch.distributions.TanhTransform(cache_size=1)]
    )
    before = given[:, :2] + given[:, 2:].exp() * noise
    expected = (normal.log_prob(before) - torch.log(1 - torch.tanh(before) ** 2)).sum(1)
    assert torch.allclose(log_prob, expected, atol=1e-4)
    assert torch.allclose(two.log_prob(given, action), squashed.log_prob(action).sum(1), atol=1e-3)
    assert torch.equal(action, two.sample(given, noise))


def test_the_logarithm_of_the_derivative_equals_double_precision_and_never_overflows():
    before = torch.linspace(-15, 15, 301)
    twice = before.double()
    expected = torch.log1p(-(torch.tanh(twice) ** 2))
    assert torch.allclose(log_derivative(before).double(), expected, atol=1e-5)
    assert log_derivative(tensor([-1e6, 1e6])).tolist() == pytest.approx([-2e6, -2e6])


@pytest.mark.parametrize("mean", [-1e3, -20.0, 20.0, 1e3])
def test_log_prob_and_its_gradient_stay_exact_where_the_action_is_rounded_to_one(mean):
    one = SquashedGaussian(gym.spaces.Box(-1.0, 1.0, (1,), np.float32))
    given = tensor([[mean, 0.0]], requires_grad=True)
    action, log_prob = one.sample_with_log_prob(given, tensor([[0.5]]))
    assert abs(action.item()) == 1.0
    # log(1 - tanh(u)^2) is 2 log 2 - 2|u| out there
    u = mean + 0.5
    expected = -0.125 - HALF_LOG_2PI - (2 * math.log(2.0) - 2 * abs(u))
    assert log_prob.item() == pytest.approx(expected, rel=1e-6)
    (gradient,) = torch.autograd.grad(log_prob, given)
    # d/du of 2|u| is 2 sign(u); du/dmean is 1, du/dlog_std is std * noise
    sign = math.copysign(1.0, mean)
    assert gradient.tolist() == [[pytest.approx(2 * sign), pytest.approx(2 * sign * 0.5 - 1)]]


def test_the_gradient_of_log_prob_equals_finite_differences(two):
    given = torch.randn(3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    noise = torch.randn(3, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    assert torch.autograd.gradcheck(
        lambda p: two.sample_with_log_prob(p, noise), given.requires_grad_()
    )


def test_log_prob_of_an_action_at_the_very_bound_is_finite(two):
    found = two.log_prob(torch.zeros(2, 4), tensor([[1.0, -1.0], [-1.0, 1.0]]))
    assert bool(torch.isfinite(found).all())


@pytest.mark.parametrize(("given", "taken"), [(-50.0, LOG_STD_MIN), (9.0, LOG_STD_MAX)])
def test_the_spread_is_held_between_two_bounds(two, given, taken):
    wide, held = torch.full((1, 4), given), torch.full((1, 4), taken)
    wide[:, :2] = held[:, :2] = 0.1
    noise = tensor([[0.3, -0.2]])
    assert torch.equal(two.sample(wide, noise), two.sample(held, noise))
    for method in (two.entropy, lambda p: two.kl(p, torch.zeros(1, 4))):
        assert torch.equal(method(wide), method(held))
    for one, other in zip(
        two.sample_with_log_prob(wide, noise), two.sample_with_log_prob(held, noise), strict=True
    ):
        assert torch.equal(one, other)


def test_the_gaussian_before_squashing_has_the_spread_that_is_taken(two):
    parameters = torch.tensor([[0.5, -7.0, 3.0, -1.0], [0.5, -7.0, -21.0, -19.0]])
    assert two.gaussian(parameters).tolist() == [[0.5, -7.0, 2.0, -1.0], [0.5, -7.0, -20.0, -19.0]]


def test_the_mode_is_the_tanh_of_the_mean(two):
    found = two.mode(parameters([1.0, -1.0], [2.0, 0.5]))
    assert found.tolist() == [[pytest.approx(math.tanh(1.0)), pytest.approx(-math.tanh(1.0))]]


def test_divergence_by_hand(two):
    found = two.kl(parameters([0.0, 1.0], [1.0, 1.0]), parameters([1.0, 1.0], [2.0, 1.0]))
    # That of the Gaussians: log 2 + (1 + 1) / (2 * 4) - 1/2 in the first, nothing in the second
    assert found.item() == pytest.approx(math.log(2.0) + 0.25 - 0.5, abs=1e-6)


@pytest.mark.parametrize("mean", [0.0, 0.7, 4.0])
@pytest.mark.parametrize("std", [0.01, 0.5, 1.0, 3.0, 7.38])
def test_entropy_equals_the_integral_of_minus_p_log_p(mean, std):
    one = SquashedGaussian(gym.spaces.Box(-1.0, 1.0, (1,), np.float32))
    found = one.entropy(parameters([mean], [std])).item()
    u = torch.linspace(-12, 12, 200_001, dtype=torch.float64)
    density = torch.exp(-0.5 * u * u - HALF_LOG_2PI)
    values = -0.5 * u * u - HALF_LOG_2PI - math.log(std) - log_derivative(mean + std * u)
    assert found == pytest.approx(-torch.trapezoid(density * values, u).item(), abs=1e-4)


def test_an_even_spread_over_the_bounds_has_nearly_the_entropy_of_the_uniform(two):
    # For a standard deviation near 1 the squashed Gaussian is nearly flat: log 2 nats each.
    found = two.entropy(parameters([0.0, 0.0], [0.87, 0.87])).item()
    assert 2 * math.log(2.0) - 0.05 < found < 2 * math.log(2.0)


def test_the_environment_gets_actions_scaled_into_bounds_that_are_not_symmetric(two):
    found = two.env_action(np.array([[-1.0, 1.0], [0.0, -0.5], [1.0, -1.0]], np.float32))
    assert found.tolist() == [[-1.0, 0.5], [0.5, 0.125], [2.0, 0.0]]
    assert found.dtype == np.float32


def test_the_deviation_of_a_very_narrow_density_is_a_number(two):
    mean = torch.linspace(-3.0, 3.0, 41)[:, None]
    found = two.probabilities(torch.cat([mean, mean, torch.full((41, 2), -20.0)], 1))
    assert torch.allclose(found[0], 0.5 * (mean.tanh() * tensor([3.0, 0.5]) + tensor([1.0, 0.5])))
    assert float(found[1].min()) >= 0.0 and float(found[1].max()) < 1e-3


def test_actions_of_several_axes_are_flat_for_formulas_and_given_in_their_shape():
    made = SquashedGaussian(gym.spaces.Box(-2.0, 2.0, (2, 3), np.float32))
    assert made.action.shape == (6,) and made.parameter_size == 12
    assert made.env_action(np.ones((4, 6), np.float32)).shape == (4, 2, 3)


def test_a_space_without_bounds_is_refused():
    with pytest.raises(PlanError, match="a bound is infinite"):
        SquashedGaussian(gym.spaces.Box(-np.inf, np.inf, (2,), np.float32))


def test_the_log_prob_of_a_sample_is_exact_where_the_action_is_rounded_to_one(two):
    action, log_prob = two.sample_with_log_prob(
        parameters([20.0, -300.0], [1.0, 2.0]), tensor([[0.5, -1.0]])
    )
    assert action.tolist() == [[1.0, -1.0]]
    # -noise^2 / 2 - log std - log(2 pi) / 2 - 2 (log 2 - |u|), with u = 20.5 and -302
    gaussian = -0.5 * (0.25 + 1.0) - math.log(2.0) - 2 * HALF_LOG_2PI
    expected = gaussian - 2 * (2 * math.log(2.0) - 20.5 - 302.0)
    assert log_prob.item() == pytest.approx(expected, rel=1e-6)


def test_the_spread_depends_on_the_observation(two):
    torch.manual_seed(0)
    head = two.head(8)
    found = head(torch.randn(5, 8))
    assert found.shape == (5, 4) and found[:, 2:].std(0).min() > 0.1


def test_it_trains_ppo2_too(rlk_make):
    agent = rlk_make("ppo2", env="rlk_testing.environments:BoxMatch", seed=0, n_steps=32,
                     distribution="squashed-gaussian")  # fmt: skip
    agent.learn(128)
    agent.run.parameters.check()
