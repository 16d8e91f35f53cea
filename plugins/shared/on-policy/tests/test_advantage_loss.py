from __future__ import annotations

import pytest
import torch
from torch import tensor

from rlk_on_policy.advantage_loss import policy_loss


def test_the_policy_loss_is_the_mean_of_log_probabilities_times_advantages_negated():
    found = policy_loss(tensor([-1.0, -3.0]), tensor([2.0, -0.5]))
    assert found.item() == pytest.approx(-(-2.0 + 1.5) / 2)


def test_its_gradient_makes_good_actions_likelier_and_bad_ones_less_likely():
    log_prob = tensor([-1.0, -3.0], requires_grad=True)
    (gradient,) = torch.autograd.grad(policy_loss(log_prob, tensor([2.0, -0.5])), log_prob)
    assert gradient.tolist() == [-1.0, 0.25]
