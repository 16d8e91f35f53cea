"""The formulas of ACER, with numbers by hand and beside their plain versions."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, tensor

from rlk_acer import loss as losses

RNG = torch.Generator().manual_seed(0)


def normal(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=RNG)


# ---- Retrace ---------------------------------------------------------------------------------

#: One environment, three steps, gamma 0.5.
STEPS = {
    "reward": tensor([[1.0], [2.0], [3.0]]),
    "discount": tensor([[0.5], [0.5], [0.5]]),
    "next_value": tensor([[4.0], [6.0], [8.0]]),
    "ended": tensor([[False], [False], [False]]),
    "q": tensor([[1.0], [2.0], [3.0]]),
    "ratio": tensor([[9.0], [0.5], [2.0]]),
}


def test_a_trace_weighs_what_follows_by_ratios_of_at_most_one():
    # 3 + 8 / 2;  2 + (6 + 1 (7 - 3)) / 2, as 2 is truncated to 1;  1 + (4 + (7 - 2) / 2) / 2.
    assert losses.retrace(**STEPS)[:, 0].tolist() == [4.25, 7.0, 7.0]


def test_a_terminated_step_is_worth_its_reward_and_ends_the_trace():
    ended = STEPS | {
        "ended": tensor([[False], [True], [False]]),
        "discount": tensor([[0.5], [0.0], [0.5]]),
    }
    assert losses.retrace(**ended)[:, 0].tolist() == [1 + (4 + (2 - 2) / 2) / 2, 2.0, 7.0]


def test_a_truncated_step_has_the_value_of_what_it_led_to_and_ends_the_trace():
    ended = STEPS | {"ended": tensor([[False], [True], [False]])}
    assert losses.retrace(**ended)[:, 0].tolist() == [1 + (4 + (5 - 2) / 2) / 2, 2 + 6 / 2, 7.0]


def test_it_is_the_recursion_of_the_paper_in_every_environment():
    steps, n_envs = 9, 5
    terminated, truncated = normal(steps, n_envs) > 1.0, normal(steps, n_envs) > 1.0
    given = {
        "reward": normal(steps, n_envs),
        "discount": 0.9 * (~terminated).float(),
        "next_value": normal(steps, n_envs),
        "ended": terminated | truncated,
        "q": normal(steps, n_envs),
        "ratio": normal(steps, n_envs).exp(),
    }
    assert terminated.any() and (truncated & ~terminated).any()
    found = losses.retrace(**given)
    for env in range(n_envs):
        one = {name: value[:, env].tolist() for name, value in given.items()}
        expected: list[float] = []
        for t in reversed(range(steps)):
            following = one["next_value"][t]
            if t < steps - 1 and not one["ended"][t]:
                c = min(1.0, one["ratio"][t + 1])
                following += c * (expected[0] - one["q"][t + 1])
            expected.insert(0, one["reward"][t] + one["discount"][t] * following)
        assert found[:, env].tolist() == pytest.approx(expected, abs=1e-5)


# ---- the policy's gradient -------------------------------------------------------------------

PI, MU = tensor([[0.8, 0.2]]), tensor([[0.1, 0.9]])


def weights(action: int, q_ret: float, correction_term: float) -> list[float]:
    q = tensor([[1.0, 3.0]])
    found = losses.log_prob_weights(
        PI.log(), PI / MU, tensor([action]), tensor([q_ret]), q, correction_term
    )
    return found[0].tolist()


def test_ratios_are_truncated_and_what_that_leaves_out_is_made_up_for():
    # V = 0.8 * 1 + 0.2 * 3 = 1.4; ratios are 8 and 2/9; what is left out of the first is 1 - 2/8.
    correction = 0.75 * 0.8 * (1.0 - 1.4)
    assert weights(0, 5.0, 2.0) == pytest.approx([2.0 * (5.0 - 1.4) + correction, 0.0])
    assert weights(1, 5.0, 2.0) == pytest.approx([correction, 2 / 9 * (5.0 - 1.4)])


def test_ratios_below_the_term_need_no_correction():
    assert weights(0, 5.0, 10.0) == pytest.approx([8.0 * (5.0 - 1.4), 0.0])


@pytest.mark.parametrize("correction_term", [0.1, 1.0, 10.0])
def test_over_the_actions_of_the_other_policy_the_gradient_is_unbiased(correction_term):
    """With Q in the place of its estimate it is pi (Q - V), whatever the truncation."""
    log_pi, log_mu, q = normal(1, 4).log_softmax(-1), normal(1, 4).log_softmax(-1), normal(1, 4)
    expected = log_pi.exp() * (q - (log_pi.exp() * q).sum())
    mean = torch.zeros(1, 4)
    for action in range(4):
        weight = losses.log_prob_weights(
            log_pi, (log_pi - log_mu).exp(), tensor([action]), q[:, action], q, correction_term
        )
        mean += log_mu[0, action].exp() * weight
    assert torch.allclose(mean, expected, atol=1e-6)


def test_an_action_that_the_policy_cannot_take_has_no_weight():
    log_pi = tensor([[0.0, -1e9]]).log_softmax(-1)
    weight = losses.log_prob_weights(
        log_pi, tensor([[1.0, 1.0]]), tensor([0]), tensor([2.0]), tensor([[1.0, 7.0]]), 10.0
    )
    assert weight.tolist() == [[1.0, 0.0]]


def test_the_entropy_is_in_nats():
    log_pi = tensor([[0.25, 0.75], [0.5, 0.5]]).log()
    by_hand = -0.25 * np.log(0.25) - 0.75 * np.log(0.75)
    assert losses.entropy(log_pi).tolist() == pytest.approx([by_hand, np.log(2.0)])


def test_the_gradient_by_the_logits_is_that_of_autograd():
    logits, weight = normal(6, 4).requires_grad_(), normal(6, 4)
    log_pi = logits.log_softmax(-1)
    entropy = -(log_pi.exp() * log_pi).sum(-1)
    gain = (weight * log_pi).sum(-1) + 0.3 * entropy
    (expected,) = torch.autograd.grad(gain.sum(), logits)
    found = losses.gain_gradient(log_pi.detach(), weight, 0.3)
    assert torch.allclose(found, expected, atol=1e-6)


# ---- the trust region ------------------------------------------------------------------------


def test_the_gradient_of_the_divergence_is_that_of_autograd():
    average, logits = normal(6, 4), normal(6, 4).requires_grad_()
    p, log_pi = average.softmax(-1), logits.log_softmax(-1)
    (expected,) = torch.autograd.grad((p * (p.log() - log_pi)).sum(), logits)
    assert torch.allclose(losses.kl_gradient(average, log_pi.detach()), expected, atol=1e-6)


def test_a_gradient_beyond_the_region_is_projected_to_its_border():
    # k g = 3, |k|^2 = 2: (3, 0) - (3 - 1) / 2 (1, 1).
    found = losses.within_trust_region(tensor([[3.0, 0.0]]), tensor([[1.0, 1.0]]), 1.0)
    assert found.tolist() == [[2.0, -1.0]]


@pytest.mark.parametrize("k", [[1.0, 1.0], [-9.0, 0.0], [0.0, 0.0]])
def test_a_gradient_within_the_region_stays_as_it_is(k):
    found = losses.within_trust_region(tensor([[0.5, 0.5]]), tensor([k]), 1.0)
    assert found.tolist() == [[0.5, 0.5]]


def test_at_the_average_there_is_no_direction_to_project_even_within_a_region_of_nothing():
    found = losses.within_trust_region(tensor([[0.5, -0.5]]), tensor([[0.0, 0.0]]), 0.0)
    assert found.tolist() == [[0.5, -0.5]]


def test_no_vector_within_the_region_is_nearer_to_the_gradient():
    g, k, delta = normal(40, 3), normal(40, 3), 0.2
    z = losses.within_trust_region(g, k, delta)
    assert ((k * z).sum(-1) <= delta + 1e-5).all()
    moved = (z != g).any(-1)
    assert moved.any() and not moved.all()
    others = z[:, None] + 0.3 * normal(40, 500, 3)
    inside = (k[:, None] * others).sum(-1) <= delta
    farther = (others - g[:, None]).square().sum(-1) >= (z - g).square().sum(-1)[:, None] - 1e-5
    assert inside.any() and (farther | ~inside).all()


def test_what_belongs_to_the_actions_taken_is_picked_row_by_row():
    values = tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    assert losses.of_action(values, tensor([1, 0, 1])).tolist() == [2.0, 3.0, 6.0]


def test_the_loss_of_q_is_half_the_mean_square():
    assert losses.q_loss(tensor([1.0, 4.0]), tensor([3.0, 4.0])).item() == 0.5 * np.mean([4.0, 0.0])


def test_ratios_are_of_probabilities():
    log_pi, behaviour = tensor([[0.5, 0.5]]).log(), tensor([[1.0, 3.0]]).log()
    found = losses.importance_ratio(log_pi, behaviour)
    assert found[0].tolist() == pytest.approx([0.5 / 0.25, 0.5 / 0.75])


def test_the_policy_loss_is_minus_the_mean_of_weighted_log_probabilities():
    log_pi, weight = tensor([[-1.0, -2.0], [-3.0, 0.0]]), tensor([[2.0, -1.0], [1.0, 5.0]])
    assert losses.policy_loss(log_pi, weight).item() == ((2 - 2) + 3) / 2
