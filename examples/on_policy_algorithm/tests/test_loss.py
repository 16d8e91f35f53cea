"""The formulas by hand."""

from math import log

import pytest
from torch import tensor

from acme_kl_penalty.loss import adapted, penalised_loss


def test_the_penalty_is_weighted_against_the_gain():
    log_prob = tensor([log(0.5), log(0.2)])
    old_log_prob = tensor([log(0.25), log(0.4)])
    advantage, kl = tensor([1.0, -2.0]), tensor([0.1, 0.3])
    found = penalised_loss(log_prob, old_log_prob, advantage, kl, tensor(5.0))
    # The ratios are 2 and 1/2.
    assert found.item() == pytest.approx(-((2.0 - 0.5) + (-1.0 - 1.5)) / 2)


@pytest.mark.parametrize(
    ("kl", "expected"), [(0.006, 1.0), (0.007, 2.0), (0.01, 2.0), (0.0149, 2.0), (0.016, 4.0)]
)
def test_the_weight_follows_the_divergence(kl, expected):
    assert adapted(2.0, kl, target=0.01) == expected
