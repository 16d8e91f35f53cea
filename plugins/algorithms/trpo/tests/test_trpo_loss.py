from __future__ import annotations

import math

import pytest
from torch import tensor

from rlk_trpo.loss import surrogate


def test_the_surrogate_by_hand():
    """Ratios 1.5 and 0.5, advantages 2 and -1: (3 - 0.5) / 2."""
    new, old = tensor([math.log(0.6), math.log(0.2)]), tensor([math.log(0.4), math.log(0.4)])
    assert surrogate(new, old, tensor([2.0, -1.0])).item() == pytest.approx(1.25)


def test_the_surrogate_of_the_old_policy_is_the_mean_advantage():
    log_prob = tensor([-3.0, -0.1])
    assert surrogate(log_prob, log_prob, tensor([2.0, 1.0])).item() == pytest.approx(1.5)
