"""The mean entropy: its value, and when it has a gradient."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from gymnasium import spaces

from rlk_categorical.distribution import Categorical
from rlk_on_policy.mean_entropy import mean_entropy


@pytest.mark.parametrize("coef", [0.0, 0.5])
def test_it_is_the_mean_of_all_rows(coef: float) -> None:
    logits = torch.tensor([[0.0, 0.0], [np.log(3.0), 0.0]])
    of_quarters = -(0.75 * np.log(0.75) + 0.25 * np.log(0.25))
    found = mean_entropy(Categorical(spaces.Discrete(2)), logits, coef)
    assert found.item() == pytest.approx((np.log(2.0) + of_quarters) / 2)


def test_it_has_a_gradient_unless_its_weight_is_zero() -> None:
    distribution, logits = Categorical(spaces.Discrete(2)), torch.tensor([[1.0, 0.0]])
    logits.requires_grad_()
    assert not mean_entropy(distribution, logits, 0.0).requires_grad
    mean_entropy(distribution, logits, 0.01).backward()
    p = 1 / (1 + np.exp(-1.0))
    by_hand = -p * (1 - p)  # dH/dz = -p (1 - p) z, for the difference z = 1 of two logits
    assert logits.grad is not None
    assert logits.grad[0].tolist() == pytest.approx([by_hand, -by_hand])


class WithoutFormula(Categorical):
    def entropy(self, parameters: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError("no formula")


def test_without_a_formula_it_is_estimated_from_the_actions_of_the_batch() -> None:
    # Probabilities of 1/4 and 3/4: a batch with one and three of these actions is an exact sample.
    logits = torch.tensor([0.0, np.log(3.0)]).expand(4, 2).clone().requires_grad_()
    actions = torch.tensor([0, 1, 1, 1])
    found = []
    for kind in (Categorical, WithoutFormula):
        distribution = kind(spaces.Discrete(2))
        log_prob = distribution.log_prob(logits, actions)
        entropy = mean_entropy(distribution, logits, 0.5, log_prob)
        (gradient,) = torch.autograd.grad(entropy, logits)
        found.append([entropy.item(), *gradient.sum(0).tolist()])
        assert not mean_entropy(distribution, logits, 0.0, log_prob).requires_grad
    assert found[1] == pytest.approx(found[0])


def test_without_a_formula_and_without_log_probabilities_there_is_none() -> None:
    with pytest.raises(NotImplementedError, match="no formula"):
        mean_entropy(WithoutFormula(spaces.Discrete(2)), torch.zeros(1, 2), 0.5)
