from __future__ import annotations

import pytest
from torch import tensor

from rlk_sac.loss import actor_loss, critic_loss, soft_target


def test_the_target_is_the_reward_and_the_lesser_value_with_the_entropy_of_the_action():
    found = soft_target(
        reward=tensor([1.0, 1.0]),
        discount=tensor([0.5, 0.5]),
        next_q=tensor([[4.0, 8.0], [6.0, 2.0]]),
        next_log_prob=tensor([-1.0, 3.0]),
        alpha=tensor(2.0),
    )
    assert found.tolist() == [1 + 0.5 * (4 + 2), 1 + 0.5 * (2 - 6)]


def test_the_least_value_of_more_than_two_critics_counts():
    next_q = tensor([[4.0], [6.0], [3.0]])
    found = soft_target(tensor([1.0]), tensor([0.5]), next_q, tensor([-1.0]), tensor(2.0))
    assert found.tolist() == [1 + 0.5 * (3 + 2)]


def test_a_terminated_transition_does_not_bootstrap_nor_count_entropy():
    nothing = tensor([0.0])
    found = soft_target(tensor([1.0]), nothing, tensor([[9.0], [9.0]]), tensor([-5.0]), tensor(1.0))
    assert found.tolist() == [1.0]


def test_the_critics_loss_is_half_the_weighted_squares_of_both():
    q, target, weight = tensor([[1.0, 2.0], [3.0, 0.0]]), tensor([0.0, 1.0]), tensor([1.0, 0.5])
    # (1 + 9) / 2 in the first row of the batch, half of (1 + 1) / 2 in the second
    assert critic_loss(q, target, weight).item() == pytest.approx((5.0 + 0.5) / 2)


def test_the_actors_loss_is_the_entropy_term_less_the_lesser_value():
    q = tensor([[1.0, 6.0], [3.0, 4.0]])
    found = actor_loss(q, tensor([-1.0, 2.0]), tensor(0.5))
    assert found.item() == pytest.approx(((-0.5 - 1.0) + (1.0 - 4.0)) / 2)
