from __future__ import annotations

import math

import pytest
import torch

from rlk.one_process import OneProcess
from rlk.optimise import Group, Objective
from rlk.records import Loss
from rlk_adam.config import AdamConfig
from rlk_adam.step import Adam
from rlk_testing import OptimiserContract


class TestAdam(OptimiserContract):
    component = "adam"


class Follows:
    """An Adam whose gradients are given one by one."""

    def __init__(
        self, start, learning_rate=0.1, max_grad_norm=None, accept=None, config=None, **options
    ):
        self.x = torch.nn.Parameter(torch.tensor(start))
        self.rate, self.accept = torch.tensor(learning_rate), accept
        group = Group("x", [self.x], self.x.data, self.rate, max_grad_norm, options)
        self.adam = Adam(group, config)

    def step(self, *gradient):
        def loss():
            value = (self.x * torch.tensor(gradient)).sum()
            return Loss(value, accept=self.accept)

        return self.adam.step(Objective(self.adam.group, loss, (), OneProcess()))


@pytest.fixture(params=["with a branch", "fused", "traced"])
def accept(request, monkeypatch):
    """The `accept` of losses with which a step goes each of its three ways."""
    if request.param == "traced":
        monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    return torch.tensor(True) if request.param == "fused" else None


def test_the_first_two_steps_are_those_computed_by_hand(accept):
    follows = Follows([1.0], accept=accept)
    follows.step(2.0)
    # m = 0.2, v = 0.004; corrected 2 and 4; 1 - 0.1 * 2 / 2
    assert follows.x.item() == pytest.approx(0.9, abs=2e-7)
    follows.step(-1.0)
    # m = 0.9 * 0.2 - 0.1 = 0.08, corrected 0.08 / 0.19; v = 0.999 * 0.004 + 0.001 = 0.004996,
    # corrected 0.004996 / 0.001999
    change = 0.1 * (0.08 / 0.19) / math.sqrt(0.004996 / 0.001999)
    assert follows.x.item() == pytest.approx(0.9 - change, abs=1e-7)
    assert follows.adam.mean.item() == pytest.approx(0.08)
    assert follows.adam.square.item() == pytest.approx(0.004996)
    assert follows.adam.count.item() == 2.0


def test_eps_is_added_to_the_root(accept):
    follows = Follows([0.0], accept=accept, eps=1.0)
    follows.step(2.0)
    assert follows.x.item() == pytest.approx(-0.1 * 2 / (2 + 1))


def test_betas_are_those_of_the_group():
    follows = Follows([0.0], betas=(0.5, 0.75))
    follows.step(2.0)
    assert follows.adam.mean.item() == pytest.approx(1.0)
    assert follows.adam.square.item() == pytest.approx(1.0)


def test_settings_take_the_place_of_a_groups_options_one_by_one():
    follows = Follows([0.0], config=AdamConfig(betas=(0.5, 0.75)), betas=(0.25, 0.25), eps=1.0)
    follows.step(2.0)
    # m = 1, v = 1; corrected 2 and 4; 0.1 * 2 / (2 + 1)
    assert follows.adam.mean.item() == follows.adam.square.item() == pytest.approx(1.0)
    assert follows.x.item() == pytest.approx(-0.1 * 2 / 3)
    follows = Follows([0.0], config=AdamConfig(eps=2.0), betas=(0.5, 0.75), eps=1.0)
    follows.step(2.0)
    assert follows.adam.mean.item() == follows.adam.square.item() == pytest.approx(1.0)
    assert follows.x.item() == pytest.approx(-0.1 * 2 / 4)


def test_a_run_sets_them_for_every_group(rlk_make):
    agent = rlk_make("sac", env="Pendulum-v1", **{"adam.eps": 1e-5, "adam.betas": [0.5, 0.9]})
    steps = agent.run.optimise.steps.values()
    assert [(step.eps, step.beta1, step.beta2) for step in steps] == [(1e-5, 0.5, 0.9)] * 3


@pytest.mark.parametrize(
    "wrong", [{"betas": (0.9, 1.0)}, {"betas": (-0.1, 0.9)}, {"eps": 0.0}, {"eps": math.inf}]
)
def test_numbers_out_of_range_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        AdamConfig(**wrong)


def test_a_decay_of_zero_is_a_number_in_range():
    assert AdamConfig(betas=(0.0, 0.0)).betas == (0.0, 0.0)


def test_a_gradient_longer_than_the_limit_is_scaled_to_it(accept):
    follows = Follows([0.0, 0.0], max_grad_norm=1.0, accept=accept)
    loss = follows.step(3.0, 4.0)
    assert follows.adam.mean.tolist() == pytest.approx([0.06, 0.08])  # a tenth of (0.6, 0.8)
    assert loss.metrics["grad_norm"].item() == pytest.approx(5.0)  # as it was before


def test_a_gradient_shorter_than_the_limit_stays_as_it_is(accept):
    follows = Follows([0.0, 0.0], max_grad_norm=10.0, accept=accept)
    follows.step(3.0, 4.0)
    assert follows.adam.mean.tolist() == pytest.approx([0.3, 0.4])


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_a_gradient_that_is_not_finite_changes_nothing(bad, accept):
    follows = Follows([1.0, 1.0], max_grad_norm=0.5, accept=accept)
    follows.step(1.0, 2.0)
    before = {name: value.clone() for name, value in follows.adam.state_dict().items()}
    x = follows.x.detach().clone()
    follows.step(1.0, bad)
    assert torch.equal(follows.x, x)
    for name, value in follows.adam.state_dict().items():
        assert torch.equal(value, before[name]), name


@pytest.mark.parametrize("compiles", [False, True])
def test_a_step_that_is_not_accepted_changes_nothing(compiles, monkeypatch):
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: compiles)
    follows = Follows([1.0])
    for taken in (0, 1):  # at the beginning, and where there is momentum
        before = {name: value.clone() for name, value in follows.adam.state_dict().items()}
        x, follows.accept = follows.x.item(), torch.tensor(False)
        follows.step(2.0)
        assert follows.x.item() == x
        assert follows.adam.state_dict() == before and before["count"].item() == taken
        follows.accept = None
        follows.step(2.0)


def test_a_learning_rate_that_is_filled_anew_is_used_at_once():
    follows = Follows([0.0])
    follows.step(2.0)
    follows.rate.fill_(0.0)
    follows.step(2.0)
    assert follows.x.item() == pytest.approx(-0.1)


def gradients(count=20, size=6):
    generator = torch.Generator().manual_seed(0)
    return 3.0 * torch.randn(count, size, generator=generator)


@pytest.mark.parametrize("max_grad_norm", [None, 2.0])
def test_twenty_steps_equal_those_of_torch(max_grad_norm, accept):
    follows = Follows(
        [0.5] * 6, learning_rate=0.01, max_grad_norm=max_grad_norm, accept=accept, eps=1e-5
    )
    reference_x = torch.nn.Parameter(torch.full((6,), 0.5))
    reference = torch.optim.Adam([reference_x], lr=0.01, eps=1e-5)
    for gradient in gradients():
        follows.step(*gradient.tolist())
        reference_x.grad = gradient.clone()
        if max_grad_norm is not None:
            torch.nn.utils.clip_grad_norm_([reference_x], max_grad_norm)
        reference.step()
    assert torch.allclose(follows.x, reference_x, atol=1e-5)


@pytest.mark.parametrize("compiles", [False, True])
def test_only_a_tracing_compiler_gets_the_step_that_is_written_out(compiles, monkeypatch):
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: compiles)
    calls = []
    monkeypatch.setattr(Adam, "_fused", lambda *_: calls.append("fused"))
    for accept in (None, torch.tensor(True)):
        Follows([1.0], accept=accept).step(2.0)
    assert calls == ([] if compiles else ["fused", "fused"])
