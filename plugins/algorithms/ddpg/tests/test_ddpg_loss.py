"""The formulas of DDPG by hand."""

from __future__ import annotations

import pytest
import torch
from torch import tensor

from rlk_ddpg.loss import actor_loss, critic_loss, l2_penalty, q_target


def test_the_target_is_the_scaled_reward_and_the_discounted_value():
    found = q_target(tensor([1.0, 2.0]), tensor([0.5, 0.9]), tensor([4.0, 10.0]), 0.1)
    assert found.tolist() == pytest.approx([0.1 + 2.0, 0.2 + 9.0])


def test_a_terminated_transition_is_worth_its_reward():
    assert q_target(tensor([3.0]), tensor([0.0]), tensor([7.0]), 1.0).tolist() == [3.0]


def test_the_critics_loss_is_the_weighted_mean_of_squares():
    found = critic_loss(tensor([1.0, 4.0]), tensor([2.0, 2.0]), weight=tensor([1.0, 0.5]))
    assert found.item() == pytest.approx((1.0 + 0.5 * 4.0) / 2)


def test_the_penalty_is_half_the_sum_of_all_squares():
    weights = [tensor([[1.0, -2.0], [0.0, 3.0]]), tensor([[2.0]])]
    assert l2_penalty(weights, 0.1).item() == pytest.approx(0.1 * (1 + 4 + 9 + 4) / 2)


def test_the_gradient_of_the_penalty_is_the_weight_times_the_coefficient():
    weight = tensor([[1.0, -2.0]], requires_grad=True)
    (gradient,) = torch.autograd.grad(l2_penalty([weight], 0.1), weight)
    assert gradient.tolist() == [pytest.approx([0.1, -0.2])]


def test_the_policy_maximises_the_mean_value():
    q = tensor([1.0, 3.0], requires_grad=True)
    loss = actor_loss(q)
    assert loss.item() == -2.0
    (gradient,) = torch.autograd.grad(loss, q)
    assert gradient.tolist() == [-0.5, -0.5]
