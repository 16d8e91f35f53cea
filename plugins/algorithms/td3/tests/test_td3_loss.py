"""The formulas of TD3 by hand."""

from __future__ import annotations

import pytest
import torch
from torch import tensor

from rlk_off_policy.heads import DeterministicHead
from rlk_td3.loss import actor_loss, clipped_double_q_target, critic_loss, smoothed_action
from rlk_testing.stand_ins import NoLayers


@pytest.mark.parametrize(
    ("action", "epsilon", "expected"),
    [
        (0.25, 0.5, 0.25 + 0.1),
        (0.25, -10.0, 0.25 - 0.5),  # the noise is clipped
        (0.75, 10.0, 1.0),  # and then the action
        (-0.75, -10.0, -1.0),
    ],
)
def test_the_target_action_has_clipped_noise_and_stays_within_its_bounds(action, epsilon, expected):
    found = smoothed_action(tensor([[action]]), tensor([[epsilon]]), sigma=0.2, clip=0.5)
    assert found.item() == pytest.approx(expected)


def test_without_noise_the_target_action_is_the_policys():
    found = smoothed_action(tensor([[0.3, -0.4]]), tensor([[5.0, 5.0]]), sigma=0.0, clip=0.5)
    assert found.tolist() == tensor([[0.3, -0.4]]).tolist()


def test_the_target_takes_the_lesser_of_the_critics_for_each_transition():
    next_q = tensor([[10.0, -2.0], [8.0, 6.0]])
    found = clipped_double_q_target(tensor([1.0, 2.0]), tensor([0.5, 0.5]), next_q)
    assert found.tolist() == [5.0, 1.0]


def test_the_least_value_of_more_than_two_critics_counts():
    next_q = tensor([[7.0, 4.0], [9.0, 8.0], [2.0, 6.0]])
    found = clipped_double_q_target(tensor([1.0, 2.0]), tensor([0.5, 0.5]), next_q)
    assert found.tolist() == [2.0, 4.0]


def test_a_terminated_transition_is_worth_its_reward():
    found = clipped_double_q_target(tensor([3.0]), tensor([0.0]), tensor([[7.0], [9.0]]))
    assert found.tolist() == [3.0]


def test_the_loss_of_the_critics_is_the_sum_of_their_weighted_mean_squares():
    q = tensor([[1.0, 4.0], [3.0, 1.0]])
    found = critic_loss(q, target=tensor([2.0, 2.0]), weight=tensor([1.0, 0.5]))
    # The first (1 + 0.5 * 4) / 2, the second (1 + 0.5 * 1) / 2.
    assert found.item() == pytest.approx(1.5 + 0.75)


def test_the_policy_maximises_the_first_critic_alone():
    q = tensor([[1.0, 3.0], [50.0, -70.0]], requires_grad=True)
    loss = actor_loss(q)
    assert loss.item() == -2.0
    (gradient,) = torch.autograd.grad(loss, q)
    assert gradient.tolist() == [[-0.5, -0.5], [0.0, 0.0]]


def test_the_policys_head_is_the_tanh_of_a_linear_layer():
    head = DeterministicHead(lambda role: NoLayers().trunk(role, 2), 1)
    with torch.no_grad():
        head.out.weight.copy_(tensor([[1.0], [2.0]]))
        head.out.bias.copy_(tensor([0.5]))
    assert head(tensor([[0.1, -0.2]])).item() == pytest.approx(torch.tanh(tensor(0.2)).item())
