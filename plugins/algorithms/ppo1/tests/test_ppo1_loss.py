from __future__ import annotations

import pytest
import torch
from torch import tensor

from rlk_ppo1.loss import approximate_kl


def test_the_divergence_is_the_mean_fall_of_log_probabilities():
    found = approximate_kl(tensor([-1.5, -3.0]), tensor([-1.0, -3.0]))
    assert found.item() == pytest.approx(0.25)


def test_its_expectation_over_actions_of_the_old_policy_is_the_divergence():
    old, new = tensor([0.5, 0.5]), tensor([0.9, 0.1])
    action = torch.arange(1000) % 2  # each as often as the old policy takes it
    found = approximate_kl(new.log()[action], old.log()[action])
    assert found.item() == pytest.approx(float((old * (old / new).log()).sum()), rel=1e-5)


def test_what_is_only_logged_takes_no_gradient():
    log_prob = torch.zeros(2, requires_grad=True)
    assert not approximate_kl(log_prob, log_prob).requires_grad
