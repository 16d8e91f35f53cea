from __future__ import annotations

import math

import pytest
import torch

from rlk.one_process import OneProcess
from rlk.optimise import Group, Objective
from rlk.records import Loss
from rlk_rmsprop.config import RMSPropConfig
from rlk_rmsprop.step import RMSProp
from rlk_testing import OptimiserContract

MATCH = "rlk_testing.environments:DiscreteMatch"


class TestRMSProp(OptimiserContract):
    component = "rmsprop"


class TestRMSPropWithMomentum(OptimiserContract):
    component = "rmsprop"
    settings = {"momentum": 0.5, "alpha": 0.9}
    variant = True
    learning_rate = 0.01
    options = {"eps": 1e-3}

    def test_a_learning_rate_that_changes_is_used_at_once(self) -> None:
        """Of what is still to come: what the velocity holds already was scaled when it came."""
        problem = self.problem()
        problem.step()
        velocity, before = problem.optimiser.velocity.clone(), problem.flat.flat.clone()
        problem.group.learning_rate.fill_(0.0)
        problem.step()
        assert torch.allclose(problem.flat.flat, before - 0.5 * velocity, atol=1e-7)


class TestRMSPropOfTorch(OptimiserContract):
    component = "rmsprop"
    settings = {"variant": "torch"}
    variant = True
    learning_rate = 0.01


class Follows:
    """An RMSProp whose gradients are given one by one."""

    def __init__(
        self, start, learning_rate=0.1, max_grad_norm=None, accept=None, eps=1e-5, **settings
    ):
        self.x = torch.nn.Parameter(torch.tensor(start))
        self.rate, self.accept = torch.tensor(learning_rate), accept
        group = Group("x", [self.x], self.x.data, self.rate, max_grad_norm, {"eps": eps})
        self.rmsprop = RMSProp(group, RMSPropConfig(**settings))

    def step(self, *gradient):
        def loss():
            value = (self.x * torch.tensor(gradient)).sum()
            return Loss(value, accept=self.accept)

        return self.rmsprop.step(Objective(self.rmsprop.group, loss, (), OneProcess()))


#: By which way a step is taken: None is the one of the CPU, with branches.
WAYS = pytest.mark.parametrize("accept", [None, torch.tensor(True)])


@WAYS
def test_the_first_two_steps_are_those_computed_by_hand(accept):
    follows = Follows([1.0], accept=accept, alpha=0.9, eps=0.02)
    follows.step(2.0)
    # s = 0.9 * 1 + 0.1 * 4 = 1.3; 1 - 0.1 * 2 / sqrt(1.32)
    assert follows.rmsprop.square.item() == pytest.approx(1.3)
    first = 0.1 * 2 / math.sqrt(1.32)
    assert follows.x.item() == pytest.approx(1.0 - first)
    follows.step(-1.0)
    # s = 0.9 * 1.3 + 0.1 * 1 = 1.27
    assert follows.x.item() == pytest.approx(1.0 - first + 0.1 / math.sqrt(1.29))


@WAYS
def test_momentum_keeps_a_part_of_the_last_step_with_the_learning_rate_that_it_had(accept):
    follows = Follows([0.0], accept=accept, alpha=1.0, eps=0.0, momentum=0.5)  # the root stays 1
    follows.step(2.0)
    assert follows.x.item() == pytest.approx(-0.2)
    follows.rate.fill_(0.01)
    follows.step(1.0)
    # v = 0.5 * 0.2 + 0.01 * 1
    assert follows.rmsprop.velocity.item() == pytest.approx(0.11)
    assert follows.x.item() == pytest.approx(-0.2 - 0.11)


@WAYS
def test_epsilon_is_inside_the_root(accept):
    follows = Follows([0.0], accept=accept, alpha=0.0, eps=5.0)
    follows.step(2.0)
    assert follows.x.item() == pytest.approx(-0.1 * 2 / math.sqrt(4 + 5))


def test_unless_told_it_has_the_numbers_of_stable_baselines():
    x = torch.nn.Parameter(torch.zeros(1))
    rmsprop = RMSProp(Group("x", [x], x.data, torch.tensor(0.1)))
    assert (rmsprop.alpha, rmsprop.momentum, rmsprop.eps) == (0.99, 0.0, 1e-5)


def test_any_algorithm_may_be_given_its_decay_and_its_momentum(rlk_make):
    settings = {"optimiser": "rmsprop", "rmsprop.alpha": 0.9}
    agent = rlk_make("ppo2", env=MATCH, **settings)
    (rmsprop,) = agent.run.optimise.steps.values()
    assert (rmsprop.alpha, rmsprop.momentum, rmsprop.eps) == (0.9, 0.0, 1e-5)


@pytest.mark.parametrize(
    "wrong", [{"alpha": 1.1}, {"alpha": -0.1}, {"momentum": 1.0}, {"momentum": -0.1}], ids=str
)
def test_what_is_out_of_range_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        RMSPropConfig(**wrong)


@WAYS
def test_a_gradient_longer_than_the_limit_is_scaled_to_it(accept):
    follows = Follows([0.0, 0.0], accept=accept, max_grad_norm=1.0, alpha=0.5, eps=0.0)
    loss = follows.step(3.0, 4.0)
    # The gradient is (0.6, 0.8): s = 0.5 + 0.5 * (0.36, 0.64)
    assert follows.rmsprop.square.tolist() == pytest.approx([0.68, 0.82])
    moved = [-0.1 * 0.6 / math.sqrt(0.68), -0.1 * 0.8 / math.sqrt(0.82)]
    assert follows.x.tolist() == pytest.approx(moved)
    assert loss.metrics["grad_norm"].item() == pytest.approx(5.0)  # as it was before


@WAYS
def test_a_gradient_shorter_than_the_limit_stays_as_it_is(accept):
    follows = Follows([0.0, 0.0], accept=accept, max_grad_norm=10.0, alpha=0.5)
    follows.step(3.0, 4.0)
    assert follows.rmsprop.square.tolist() == pytest.approx([5.0, 8.5])


@WAYS
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_a_gradient_that_is_not_finite_changes_nothing(bad, accept):
    follows = Follows([1.0, 1.0], accept=accept, max_grad_norm=0.5, momentum=0.9)
    follows.step(1.0, 2.0)
    before, x = follows.rmsprop.state_dict(), follows.x.detach().clone()
    follows.step(1.0, bad)
    assert torch.equal(follows.x, x)
    for name, value in follows.rmsprop.state_dict().items():
        assert torch.equal(value, before[name]), name


def test_a_step_that_is_not_accepted_changes_nothing():
    follows = Follows([1.0], accept=torch.tensor(False), momentum=0.9)
    follows.step(2.0)
    rmsprop = follows.rmsprop
    assert follows.x.item() == rmsprop.square.item() == 1.0 and rmsprop.velocity.item() == 0.0


@pytest.mark.parametrize("max_grad_norm", [None, 2.0])
@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_both_ways_of_a_step_agree_with_the_formula_in_float64(max_grad_norm, momentum):
    options = {"max_grad_norm": max_grad_norm, "momentum": momentum, "alpha": 0.9}
    one = Follows([0.5] * 6, 0.01, **options)
    two = Follows([0.5] * 6, 0.01, accept=torch.tensor(True), **options)
    x, square, velocity = (torch.full((6,), start).double() for start in (0.5, 1.0, 0.0))
    generator = torch.Generator().manual_seed(0)
    for gradient in 3.0 * torch.randn(20, 6, generator=generator):
        one.step(*gradient.tolist())
        two.step(*gradient.tolist())
        clipped = gradient.double()
        if max_grad_norm is not None:
            clipped = clipped / max(1.0, clipped.norm() / max_grad_norm)
        square = 0.9 * square + 0.1 * clipped**2
        velocity = momentum * velocity + 0.01 * clipped / (square + 1e-5).sqrt()
        x = x - velocity
    assert torch.allclose(one.x.double(), x, atol=1e-6)
    assert torch.allclose(two.x.double(), x, atol=1e-6)


# ---- the variant of PyTorch ----------------------------------------------------------------------


@WAYS
def test_a_step_of_the_other_variant_is_the_one_computed_by_hand(accept):
    settings = {"variant": "torch", "alpha": 0.9, "momentum": 0.5}
    follows = Follows([1.0], accept=accept, eps=0.5, **settings)
    follows.step(2.0)
    # s = 0.9 * 0 + 0.1 * 4 = 0.4; v = 2 / (sqrt(0.4) + 0.5); 1 - 0.1 v
    velocity = 2.0 / (math.sqrt(0.4) + 0.5)
    assert follows.rmsprop.velocity.item() == pytest.approx(velocity)
    assert follows.x.item() == pytest.approx(1.0 - 0.1 * velocity)


@WAYS
@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_the_other_variant_is_the_one_of_torch(accept, momentum):
    options = {"alpha": 0.95, "eps": 1e-4, "momentum": momentum}
    follows = Follows([0.5] * 6, 0.01, accept=accept, variant="torch", **options)
    theirs = torch.nn.Parameter(torch.full((6,), 0.5))
    peer = torch.optim.RMSprop([theirs], 0.01, **options)
    generator = torch.Generator().manual_seed(0)
    for number, gradient in enumerate(3.0 * torch.randn(20, 6, generator=generator)):
        follows.rate.fill_(0.01 / (1 + number))
        peer.param_groups[0]["lr"] = 0.01 / (1 + number)
        follows.step(*gradient.tolist())
        theirs.grad = gradient
        peer.step()
    assert torch.allclose(follows.x, theirs, atol=1e-6)
