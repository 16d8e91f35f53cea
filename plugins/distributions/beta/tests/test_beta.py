from __future__ import annotations

import math

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import tensor
from torch.distributions import Beta as TorchBeta
from torch.distributions import kl_divergence

import rlk
from rlk.errors import PlanError
from rlk_beta.distribution import NEAREST, Beta
from rlk_beta.gamma import CANDIDATES, gamma, gamma_noise
from rlk_testing import DistributionContract
from rlk_testing.environments import BY_ACTION_SPACE

LOW, HIGH = np.array([-1.0, 0.0], np.float32), np.array([2.0, 0.5], np.float32)
ONE = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)


class TestBeta(DistributionContract):
    component = "beta"


def parameters(alpha, beta):
    """Flat parameters of these alphas and betas, all above 1: softplus upside down."""
    above = tensor([[*alpha, *beta]], dtype=torch.float64) - 1.0
    return torch.log(torch.expm1(above)).float()


@pytest.fixture
def one():
    return Beta(ONE)


@pytest.fixture
def two():
    return Beta(gym.spaces.Box(LOW, HIGH))


# ---- formulas by hand, and against torch's ------------------------------------------------------


def test_log_prob_by_hand(two):
    # Beta(2, 2) has the density 6 a (1 - a), Beta(3, 2) has 12 a^2 (1 - a).
    found = two.log_prob(parameters([2.0, 3.0], [2.0, 2.0]), tensor([[0.5, 0.25]]))
    assert found.item() == pytest.approx(math.log(1.5) + math.log(12 * 0.0625 * 0.75), abs=1e-6)


def test_entropy_by_hand(one):
    # log B(2, 2) - 2 psi(2) + 2 psi(4), psi(4) - psi(2) = 1/2 + 1/3
    found = one.entropy(parameters([2.0], [2.0]))
    assert found.item() == pytest.approx(5 / 3 - math.log(6), abs=1e-6)


def test_divergence_by_hand(one):
    # From the uniform distribution, whose density is 1, it is the entropy with its sign turned.
    uniform = tensor([[-80.0, -80.0]])
    hill = parameters([2.0], [2.0])
    assert one.kl(hill, uniform).item() == pytest.approx(math.log(6) - 5 / 3, abs=1e-6)
    # The other way round it is -E[log 6 a (1 - a)] = 2 - log 6, as E[log a] is -1.
    assert one.kl(uniform, hill).item() == pytest.approx(2.0 - math.log(6), abs=1e-6)
    assert one.entropy(uniform).item() == pytest.approx(0.0, abs=1e-6)


def test_the_mode_by_hand(two):
    found = two.mode(parameters([3.0, 2.0], [2.0, 5.0]))
    assert found[0].tolist() == pytest.approx([2 / 3, 1 / 5], abs=1e-6)
    assert two.mode(torch.full((1, 4), -200.0))[0].tolist() == [0.5, 0.5]


def test_formulas_equal_those_of_torch(two):
    generator = torch.Generator().manual_seed(0)
    given, other = 3.0 * torch.randn(2, 200, 4, generator=generator, dtype=torch.float64)
    action = torch.rand(200, 2, generator=generator, dtype=torch.float64)

    def torch_beta(raw):
        alpha, beta = (1 + torch.nn.functional.softplus(raw)).chunk(2, -1)
        return TorchBeta(alpha, beta)

    one, another = torch_beta(given), torch_beta(other)
    assert torch.allclose(two.log_prob(given, action), one.log_prob(action).sum(-1))
    assert torch.allclose(two.entropy(given), one.entropy().sum(-1))
    assert torch.allclose(two.kl(given, other), kl_divergence(one, another).sum(-1))


def test_a_narrow_density_loses_nothing_to_float32(one):
    given = tensor([[8_000.0, 12_000.0]])
    exact = TorchBeta(tensor(8_001.0).double(), tensor(12_001.0).double())
    action = tensor([[0.401]])
    found = one.log_prob(given, action).item()
    assert found == pytest.approx(float(exact.log_prob(action.double())), abs=1e-6)
    assert one.entropy(given).item() == pytest.approx(float(exact.entropy()), abs=1e-6)


@pytest.mark.parametrize("action", [0.0, 1.0])
def test_at_a_bound_the_density_is_that_of_the_nearest_action_inside(one, action):
    given = parameters([2.0], [3.0]).requires_grad_()
    found = one.log_prob(given, tensor([[action]]))
    nearest = tensor([[abs(action - NEAREST)]])
    assert found.item() == pytest.approx(one.log_prob(given, nearest).item())
    (gradient,) = torch.autograd.grad(found.sum(), given)
    assert bool(gradient.isfinite().all())


def test_second_derivatives_are_there_for_the_natural_gradient(one):
    given = parameters([2.0], [3.0]).requires_grad_()
    divergence = one.kl(given.detach(), given).sum()
    (gradient,) = torch.autograd.grad(divergence, given, create_graph=True)
    assert gradient.abs().max() < 1e-6
    (product,) = torch.autograd.grad((gradient * tensor([[1.0, 0.5]])).sum(), given)
    assert bool(product.isfinite().all()) and bool(product.any())


# ---- sampling -----------------------------------------------------------------------------------


def test_a_gamma_variate_is_the_first_candidate_that_is_accepted():
    """Against the loop of the paper, one candidate after the other."""
    noise = gamma_noise(np.random.default_rng(0), 500, 2)
    shape = torch.linspace(1.0, 30.0, 1000).reshape(500, 2)
    found, refused = gamma(shape, torch.from_numpy(noise)), 0
    for row in range(500):
        for column in range(2):
            d = float(shape[row, column]) - 1 / 3
            for k in range(CANDIDATES):
                x, minus_log_u = (float(one) for one in noise[row, :, k, column])
                v = (1 + x / math.sqrt(9 * d)) ** 3
                if v > 0 and -minus_log_u < 0.5 * x * x + d * (1 - v + math.log(v)):
                    break
                refused += 1
            assert float(found[row, column]) == pytest.approx(d * v, rel=1e-5)
    assert 0 < refused < 100


def test_where_no_candidate_is_accepted_the_first_is_taken():
    noise = torch.zeros(1, 2, CANDIDATES, 1)
    noise[0, 0, :, 0] = -1.0 + 0.1 * torch.arange(CANDIDATES)  # and log u = 0: u is 1
    d = 2.0 - 1 / 3
    expected = d * (1 - 1 / math.sqrt(9 * d)) ** 3
    assert gamma(tensor([[2.0]]), noise).item() == pytest.approx(expected, rel=1e-5)
    noise[0, 0] = -40.0  # (1 + c x) is negative: no gamma variate is
    assert gamma(tensor([[2.0]]), noise).item() > 0.0


@pytest.mark.parametrize("shape", [1.0, 1.7, 8.0, 500.0])
def test_gamma_variates_have_their_moments(shape):
    count = 100_000
    noise = torch.from_numpy(gamma_noise(np.random.default_rng(1), count, 1))
    found = gamma(torch.full((count, 1), shape), noise).double()
    deviation = math.sqrt(shape / count)
    assert float(found.mean()) == pytest.approx(shape, abs=5 * deviation)
    spread = math.sqrt((2 * shape**2 + 6 * shape) / count)  # of the mean of (x - shape)^2
    assert float((found - shape).square().mean()) == pytest.approx(shape, abs=5 * spread)


def test_nineteen_of_twenty_candidates_are_accepted_at_the_least():
    noise = gamma_noise(np.random.default_rng(2), 50_000, 1)
    x, minus_log_u = torch.from_numpy(noise).unbind(1)
    d = 1.0 - 1 / 3
    v = (1 + x / math.sqrt(9 * d)) ** 3
    accepted = -minus_log_u < 0.5 * x.square() + d * (1 - v + v.log())
    assert 0.95 < float(accepted.double().mean()) < 0.953


@pytest.mark.parametrize(("alpha", "beta"), [(1.0001, 1.0001), (1.7, 1.7), (30.0, 4.0)])
def test_samples_have_the_mean_and_the_spread_of_the_distribution(one, alpha, beta):
    count = 100_000
    given = parameters([alpha], [beta]).expand(count, -1)
    noise = torch.from_numpy(one.noise(np.random.default_rng(3), count))
    found, exact = one.sample(given, noise).double(), TorchBeta(tensor(alpha), tensor(beta))
    assert float(found.mean()) == pytest.approx(
        float(exact.mean), abs=5 * float(exact.stddev) / math.sqrt(count)
    )
    assert float(found.std()) == pytest.approx(float(exact.stddev), rel=0.02)


@pytest.mark.parametrize("raw", [[1e6, -80.0], [-80.0, 1e6], [1e6, 1.0], [-200.0, -200.0]])
def test_samples_stay_inside_and_log_prob_and_gradients_finite_far_out(one, raw):
    given = tensor([raw]).expand(1000, -1).clone().requires_grad_()
    noise = torch.from_numpy(one.noise(np.random.default_rng(4), 1000))
    action = one.sample(given, noise)
    assert float(action.min()) >= NEAREST and float(action.max()) <= 1 - NEAREST
    log_prob = one.log_prob(given, action)
    (gradient,) = torch.autograd.grad(log_prob.sum() + one.entropy(given).sum(), given)
    assert bool(log_prob.isfinite().all()) and bool(gradient.isfinite().all())


# ---- what the environment gets ------------------------------------------------------------------


def test_the_first_densities_are_one_broad_hill(two):
    head = two.head(64)  # orthogonal, with a gain of 0.01
    assert head.weight.norm(dim=0).tolist() == pytest.approx([0.01] * 4)
    beginning = two.entropy(head(torch.randn(100, 64)))
    assert torch.allclose(beginning, two.entropy(torch.zeros(4)), atol=0.05)


def test_actions_are_scaled_to_the_bounds(two):
    found = two.env_action(np.array([[0.0, 0.0], [0.5, 0.5], [1.0, 1.0]], np.float32))
    assert found.tolist() == [[-1.0, 0.0], [0.5, 0.25], [2.0, 0.5]]


def test_probabilities_are_the_mean_and_the_spread_in_the_space(two):
    mean, spread = two.probabilities(parameters([2.0, 3.0], [2.0, 1.5]))
    assert mean[0].tolist() == pytest.approx([0.5, 0.5 * 3 / 4.5], abs=1e-6)
    variance = [0.25 / 5, 3 * 1.5 / (4.5**2 * 5.5)]
    expected = [3 * math.sqrt(variance[0]), 0.5 * math.sqrt(variance[1])]
    assert spread[0].tolist() == pytest.approx(expected, abs=1e-6)


def test_the_density_of_the_environments_actions_is_that_of_the_space(two):
    given = parameters([2.0, 3.0], [2.0, 1.5])
    found = two.env_log_prob(given, tensor([[0.5, 0.125]]))
    own = two.log_prob(given, tensor([[0.5, 0.25]]))
    assert found.item() == pytest.approx(own.item() - math.log(3.0 * 0.5), abs=1e-6)
    assert two.env_log_prob(given, tensor([[0.5, 0.6]])).item() == -math.inf


def test_a_space_that_is_wider_than_its_numbers_reach():
    wide, broad = Beta(gym.spaces.Box(-4e4, 4e4, (1,), np.float16)), torch.zeros(1, 2)
    assert wide.own_action(tensor([[2e4]])).tolist() == [[0.75]]
    found = wide.env_log_prob(broad, tensor([[0.0]]))
    expected = wide.log_prob(broad, tensor([[0.5]])).item() - math.log(8e4)
    assert found.item() == pytest.approx(expected)


def test_a_space_without_a_bound_is_refused():
    with pytest.raises(PlanError, match=r"a bound is infinite.*TransformAction"):
        Beta(gym.spaces.Box(-np.inf, 1.0, (1,), np.float32))


@pytest.mark.parametrize("algo", ["ppo2", "trpo"])
def test_algorithms_learn_with_it(algo):
    small = {"ppo2": {"n_steps": 32}, "trpo": {"timesteps_per_batch": 64}}
    box = {"env": BY_ACTION_SPACE["Box"], "distribution": "beta", "policy": {"layers": [16]}}
    with rlk.make(algo, **box, **small[algo], n_envs=2, seed=0, n_threads=1) as agent:
        before = agent.run.parameters.flat.clone()
        agent.learn(128)
        assert not agent.run.parameters.flat.equal(before)
        assert bool(agent.run.parameters.flat.isfinite().all())
