"""K-FAC's contract, its numbers by hand, and what each setting does."""

from __future__ import annotations

import math

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import nn

from rlk.errors import PlanError, RlkError
from rlk.one_process import OneProcess
from rlk.optimise import Group, Objective
from rlk.records import Loss
from rlk_diag_gaussian.distribution import DiagGaussian
from rlk_kfac import KfacConfig
from rlk_kfac.factors import damped_inverses, damping
from rlk_kfac.step import Kfac
from rlk_networks import Linear
from rlk_on_policy.sampled_likelihood import SampledLikelihood
from rlk_testing import OptimiserContract
from rlk_testing.tools.thread_ranks import OtherRankHasZeros, OtherRankRefuses


def unit_gaussian(outputs, prediction, weight):
    """A likelihood with fixed samples, one above and one below in turn."""
    signs = torch.ones(len(outputs), 1)
    signs[::2] = -1.0
    errors = outputs - (outputs.detach() + signs)
    values = prediction - (prediction.detach() + signs[:, 0])
    return -0.5 * errors.square().sum(1).mean() - weight * values.square().mean()


class TestKfac(OptimiserContract):
    component = "kfac"
    learning_rate = 0.25
    options = {"log_likelihood": unit_gaussian}


# ---- two layers, two rows, numbers by hand -------------------------------------------------------


class Two(nn.Module):
    """y = w2 (w1 x + b1) + b2 with numbers to be followed by hand; each layer in another way."""

    def __init__(self):
        super().__init__()
        self.first, self.second = Linear(1, 1), nn.Linear(1, 1)
        with torch.no_grad():
            for parameter, value in zip(self.parameters(), (2.0, -1.0, 0.5, 0.0), strict=True):
                parameter.fill_(value)

    def forward(self, x):
        return self.second(self.first(x))


#: x is 1 and 3, so h is 1 and 5, and y is 0.5 and 2.5.
X = torch.tensor([[1.0], [3.0]])


def sampled(y, prediction=None, weight=1.0):
    """Of a Gaussian of variance 1 and samples one above and two below: gradients 1 and -2."""
    return -0.5 * (y - torch.tensor([[1.5], [0.5]])).square().mean()


@pytest.fixture
def two(small_network):
    return lambda **settings: small_network(Two(), X, lambda y: (y * X).mean(), sampled, **settings)


def test_the_factors_are_those_computed_by_hand(two):
    small = two()
    small.step()
    inner, outer = small.factors("first.weight")
    # Rows (x, 1): (1, 1) and (3, 1). Gradients by h are 0.5 times those by y: 0.5 and -1.
    assert inner.tolist() == [[(1 + 9) / 2, (1 + 3) / 2], [(1 + 3) / 2, 1.0]]
    assert outer.tolist() == [[(0.25 + 1) / 2]]
    inner, outer = small.factors("second.weight")
    # Rows (h, 1): (1, 1) and (5, 1). Gradients by y are 1 and -2.
    assert inner.tolist() == [[(1 + 25) / 2, (1 + 5) / 2], [(1 + 5) / 2, 1.0]]
    assert outer.tolist() == [[(1 + 4) / 2]]


def test_the_step_is_the_one_computed_by_hand(two):
    moved = two().moved()
    # Gradients: w2 (1 * 1 + 3 * 5) / 2 = 8, b2 (1 + 3) / 2 = 2, w1 0.5 (1 + 9) / 2 = 2.5, b1 1.
    # First layer: [[5, 2], [2, 1]] has the inverse [[1, -2], [-2, 5]]: (2.5 - 2, -5 + 5) / 0.625.
    assert moved["first.weight"].item() == pytest.approx(0.5 / 0.625, rel=5e-3)
    assert moved["first.bias"].item() == pytest.approx(0.0, abs=5e-3)
    # Second: [[13, 3], [3, 1]] has the inverse [[1, -3], [-3, 13]] / 4: (2, 2) / 4 / 2.5.
    assert moved["second.weight"].item() == pytest.approx(0.5 / 2.5, rel=5e-3)
    assert moved["second.bias"].item() == pytest.approx(0.5 / 2.5, rel=5e-3)


def test_factors_and_gradients_are_means_over_ranks(two):
    """Where the other rank has zeros all three are halved, so the step is twice as long."""
    small = two(communicator=OtherRankHasZeros())
    moved = small.moved()
    assert small.factors("first.weight")[1].item() == pytest.approx(0.625 / 2)
    assert moved["first.weight"].item() == pytest.approx(2 * 0.5 / 0.625, rel=5e-3)
    assert moved["second.weight"].item() == pytest.approx(2 * 0.5 / 2.5, rel=5e-3)


# ---- one number: w x with x = 1, so A = 1, and G = 4 from samples two away -----------------------


class One(nn.Module):
    def __init__(self, value=0.0):
        super().__init__()
        self.weight = nn.Parameter(torch.full((1, 1), value))

    def forward(self, x):
        return x @ self.weight


def two_away(y, prediction=None, weight=1.0):
    return -0.5 * (y - (y.detach() + 2.0)).square().mean()


@pytest.fixture
def one(small_network):
    def made(gradient=1.0, **settings):
        x = torch.ones(3, 1)
        return small_network(One(), x, lambda y: gradient * y.mean(), two_away, **settings)

    return made


def test_without_damping_the_step_is_the_gradient_by_the_fisher_matrix(one):
    assert one(gradient=8.0).moved()["weight"].item() == pytest.approx(8 / 4, rel=1e-3)


def test_damping_is_shared_out_between_both_factors(one):
    """With pi = 1 / 2 they become 1 + 0.3 / 2 and 4 + 0.3 * 2."""
    moved = one(gradient=8.0, epsilon=0.09).moved()["weight"].item()
    assert moved == pytest.approx(8 / (1.15 * 4.6), rel=1e-4)


def test_damping_compares_the_mean_of_each_factors_diagonal_whatever_its_size():
    """Means of 8 and 2 on diagonals of 4 and 2: pi = 2, so 2 * 0.3 and 0.3 / 2 are added."""
    inner, outer = 8.0 * torch.eye(4)[None], 2.0 * torch.eye(2)[None]
    ((a, g),) = damped_inverses([(inner, outer)], epsilon=0.09)
    assert a[0].diagonal().tolist() == pytest.approx([1 / 8.6] * 4)
    assert g[0].diagonal().tolist() == pytest.approx([1 / 2.15] * 2)


def test_damping_is_at_least_a_ten_thousandth_of_a_factors_trace():
    inner, outer = torch.full((1, 1, 1), 9.0), torch.full((1, 1, 1), 4.0)
    found = damping([(inner, outer)], epsilon=1e-12)  # which alone adds 1.5e-6 and 6.7e-7
    assert [one.item() for one in found] == pytest.approx([9e-4, 4e-4])


def test_a_layer_that_moves_no_likelihood_leaves_the_inverses_finite():
    """As the value's, with `vf_fisher_coef=0`: its G is zero, and G by A is no float32."""
    inner, outer = torch.full((1, 2, 2), 1e3), torch.zeros(1, 3, 3)
    ((a, g),) = damped_inverses([(inner, outer)], epsilon=0.01)
    assert a.isfinite().all() and g.isfinite().all()
    assert (a[0, 0, 0] * g[0, 0, 0]).item() == pytest.approx(1 / 0.01, rel=1e-3), "epsilon remains"


def test_a_step_stays_within_the_trust_region(one):
    """lr^2 D . g = 0.01 * 2 * 8 = 0.16, which is 16 times 0.01: a quarter of the step."""
    small = one(gradient=8.0, kfac_clip=0.01)
    found = small.step()
    assert found.metrics["step_scale"].item() == pytest.approx(0.25, rel=1e-3)
    assert small.net.weight.item() == pytest.approx(-0.1 * 0.25 * 2, rel=1e-3)
    assert one(gradient=8.0, kfac_clip=0.2).step().metrics["step_scale"].item() == 1.0


def test_an_infinite_trust_region_shortens_no_step(one):
    small = one(gradient=8.0, kfac_clip=math.inf)
    assert small.step().metrics["step_scale"].item() == 1.0
    assert small.net.weight.item() == pytest.approx(-0.1 * 2, rel=1e-3)


def test_a_step_whose_length_overflows_is_not_taken(one, monkeypatch):
    small = one(gradient=8.0)
    monkeypatch.setattr(small.kfac, "_precondition", lambda: small.kfac._step.fill_(math.inf))
    before = small.net.weight.item()
    assert math.isnan(small.step().metrics["step_scale"].item())
    assert small.net.weight.item() == before and small.kfac.velocity.isfinite().all()


def test_momentum_keeps_a_part_of_the_steps_before(one):
    small = one(gradient=8.0, momentum=0.5)
    small.step()
    assert small.net.weight.item() == pytest.approx(-0.1 * 0.5 * 2, rel=1e-3)
    small.step()  # velocity 0.5 * 2 + 2
    assert small.net.weight.item() == pytest.approx(-0.1 * 0.5 * (2 + 3), rel=1e-3)


def test_first_steps_follow_the_clipped_gradient_while_factors_are_gathered(one):
    small = one(gradient=8.0, cold_iter=2, max_grad_norm=0.5, kfac_clip=1e-6)
    for n in (1, 2):
        found = small.step()
        assert small.net.weight.item() == pytest.approx(-0.1 * 0.5 * n)
        assert found.metrics["grad_norm"].item() == pytest.approx(8.0)  # as it was before
        assert small.factors("weight")[1].item() == pytest.approx(4.0)
    before = small.net.weight.item()
    scale = small.step().metrics["step_scale"].item()
    # Neither is the gradient clipped now, nor the step as long.
    assert scale == pytest.approx((1e-6 / 0.16) ** 0.5, rel=1e-3)
    assert small.net.weight.item() == pytest.approx(before - 0.1 * scale * 2, rel=1e-4)


def test_a_gradient_below_the_limit_stays_as_long_as_it_is(one):
    small = one(gradient=8.0, cold_iter=1, max_grad_norm=9.0)
    assert small.moved()["weight"].item() == pytest.approx(8.0)


def test_factors_are_means_of_all_batches_until_the_decay_takes_over(one):
    small = one(stats_decay=0.6)
    seen = []
    for x in (1.0, 2.0, 3.0, 4.0):
        small.x = torch.full((3, 1), x)
        small.step()
        seen.append(small.factors("weight")[0].item())
    third = (1 + 4) / 2 * 0.6 + 0.4 * 9  # from the third on 1 - 0.6, above a third
    assert seen == pytest.approx([1.0, 2.5, third, 0.6 * third + 0.4 * 16])


def test_factors_are_inverted_every_so_many_steps(one):
    small = one(kfac_update=2, cold_iter=1)
    inverses = []
    for x in (1.0, 2.0, 3.0, 4.0, 5.0):
        small.x = torch.full((3, 1), x)
        small.step()
        found = small.kfac.factors.inverses
        inverses.append(found[0, None][0].item() if found else None)
    assert inverses[0] is None
    assert inverses[1] == inverses[2] and inverses[3] == inverses[4] < inverses[2]
    assert inverses[1] == pytest.approx(1 / small_mean(1, 2), rel=1e-3)
    assert inverses[3] == pytest.approx(1 / small_mean(1, 2, 3, 4), rel=1e-3)


class OtherRank:
    """Its batch has a non-finite factor, so the mean over both ranks has one."""

    rank, size = 0, 2

    def __init__(self, number):
        self.number = number

    def mean(self, tensor):
        is_factors = tensor.dim() == 1 and len(tensor) == 2  # the gradient is one number
        return tensor + self.number if is_factors else tensor

    def agree(self, value):
        return value


@pytest.mark.parametrize("number", [np.inf, np.nan, 0.0])
def test_factors_that_are_not_finite_move_nothing_and_are_reported_on_every_rank(one, number):
    small = one(gradient=8.0, communicator=OtherRank(number))
    found = small.step()
    assert found.metrics["grad_norm"].item() == pytest.approx(8.0)
    is_good = number == 0.0
    assert found.metrics["step_scale"].isfinite() == is_good
    assert (small.net.weight.item() != 0.0) == is_good == small.kfac.count


def test_a_rank_decides_as_rank_0_whatever_it_finds_itself(one):
    class Refuses(OneProcess):
        def agree(self, value):
            return False

    small = one(gradient=8.0, communicator=Refuses())
    assert small.step().metrics["step_scale"].isnan()
    assert small.net.weight.item() == 0.0 and small.kfac.count == 0


def test_an_input_whose_square_is_not_finite_is_reported_too(one):
    small = one()
    small.x = torch.full((3, 1), 3e19)
    found = small.step()
    assert found.metrics["grad_norm"].isfinite() and found.metrics["step_scale"].isnan()
    assert small.net.weight.item() == 0.0 and small.kfac.count == 0


def small_mean(*xs):
    return sum(x * x for x in xs) / len(xs)


def test_the_value_has_its_weight_in_the_fisher_matrix():
    """A Gaussian around the value: gradients of 2 weight (V - v), whose mean square is 4 weight^2.

    Over 20,000 draws.
    """
    space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)
    likelihood = SampledLikelihood(DiagGaussian(space), lambda: np.random.default_rng(0))
    net, found = nn.Linear(1, 1), {}
    options, rate = {"log_likelihood": likelihood}, torch.tensor(0.1)
    for weight in (0.5, 1.0):
        group = Group("all", list(net.parameters()), torch.zeros(2), rate, None, options)
        kfac = Kfac(group, KfacConfig(vf_fisher_coef=weight))

        def loss():
            value = net(torch.ones(20_000, 1))[:, 0]
            return Loss(value.mean(), distribution=torch.zeros(20_000, 2), prediction=value)

        kfac.step(Objective(group, loss, (), OneProcess()))
        found[weight] = kfac.factors.means[0, 1][1].item()
    assert found[0.5] == pytest.approx(1.0, rel=0.05)
    assert found[1.0] == pytest.approx(4.0, rel=0.05)


# ---- what is refused -----------------------------------------------------------------------------


def test_a_group_without_a_likelihood_is_refused_with_what_to_use():
    x = nn.Parameter(torch.zeros(1))
    with pytest.raises(PlanError, match=r"'q'.*--optimiser adam"):
        Kfac(Group("q", [x], x.data, torch.tensor(1.0)))


def test_a_loss_without_a_distribution_is_refused(one):
    small = one()
    small.loss = lambda: Loss(small.net(small.x).mean())
    with pytest.raises(RlkError, match="distribution=parameters"):
        small.step()


@pytest.mark.parametrize(
    "wrong",
    [
        {"kfac_clip": 0.0},
        {"kfac_update": 0},
        {"vf_fisher_coef": -1.0},
        {"momentum": 1.0},
        {"epsilon": 0.0},
        {"stats_decay": 1.0},
        {"cold_iter": -1},
    ],
)
def test_what_is_out_of_range_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        KfacConfig(**wrong)


def test_a_step_that_one_rank_does_not_accept_is_taken_by_none(one):
    small = one(communicator=OtherRankRefuses())
    plain = small.loss
    small.loss = lambda: Loss(
        plain().value, distribution=plain().distribution, accept=torch.tensor(True)
    )
    assert small.step().metrics["step_scale"].item() == 1.0, "nothing is wrong with it"
    assert small.net.weight.item() == 0.0 and small.kfac.count == 0
