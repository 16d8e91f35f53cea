"""Masked distributions against distributions over the allowed options alone."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from gymnasium import spaces
from torch import tensor
from torch.distributions import Bernoulli as TorchBernoulli
from torch.distributions import Categorical as TorchCategorical
from torch.distributions import kl_divergence

from rlk_action_masking.masks import options
from rlk_bernoulli.distribution import Bernoulli
from rlk_categorical.distribution import Categorical
from rlk_multi_categorical.distribution import MultiCategorical

SPACES = {
    Categorical: spaces.Discrete(5, start=3),
    MultiCategorical: spaces.MultiDiscrete([2, 4, 3]),
    Bernoulli: spaces.MultiBinary(3),
}
BOTH = list(SPACES)


def drawn(kind, rows, seed):
    """Parameters [rows, P] twice, and masks [rows, M] that leave every choice something."""
    rng, space = np.random.default_rng(seed), SPACES[kind]
    distribution = kind(space)
    parts = []
    for size in options(space):
        part = rng.random((rows, size)) < 0.5
        part[np.arange(rows), rng.integers(size, size=rows)] = True
        parts.append(part)
    mask = torch.from_numpy(np.concatenate(parts, 1).astype(np.float32))
    given = torch.from_numpy(rng.normal(size=(2, rows, distribution.parameter_size)) * 2)
    return distribution, *given.float(), mask


def twins(kind, parameters, mask):
    """Of one row, a distribution over the allowed options of every choice, and those options."""
    sizes, found, start = options(SPACES[kind]), [], 0
    if kind is Bernoulli:
        off_and_on = torch.stack((torch.zeros_like(parameters), parameters), -1)
        parameters = off_and_on.reshape(-1)
    for size in sizes:
        where = torch.nonzero(mask[start : start + size])[:, 0]
        found.append((TorchCategorical(logits=parameters[start + where]), where))
        start += size
    return found


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("seed", range(2))
def test_everything_is_as_of_the_allowed_options_alone(kind, seed):
    distribution, given, other, mask = drawn(kind, 8, seed)
    masked, masked_other = distribution.masked(given, mask), distribution.masked(other, mask)
    entropy, kl = distribution.entropy(masked), distribution.kl(masked, masked_other)
    for row in range(8):
        one, two = twins(kind, given[row], mask[row]), twins(kind, other[row], mask[row])
        expected = sum(part.entropy() for part, _ in one)
        assert entropy[row] == pytest.approx(float(expected), abs=1e-5)
        expected = sum(kl_divergence(a, b) for (a, _), (b, _) in zip(one, two, strict=True))
        assert kl[row] == pytest.approx(float(expected), abs=1e-5)
        for picks in itertools.product(*[range(len(where)) for _, where in one]):
            pairs = list(zip(one, picks, strict=True))
            chosen = tensor([int(where[pick]) for (_, where), pick in pairs])
            action = chosen[0] if kind is Categorical else chosen
            expected = sum(part.log_prob(tensor(pick)) for (part, _), pick in pairs)
            found = distribution.log_prob(masked[row], action)
            assert found == pytest.approx(float(expected), abs=1e-5)


@pytest.mark.parametrize("kind", BOTH)
def test_the_gradient_is_that_of_the_allowed_options_alone(kind):
    distribution, given, other, mask = drawn(kind, 1, seed=4)
    given.requires_grad_()
    masked = distribution.masked(given, mask)
    mode = distribution.mode(masked).detach()
    total = distribution.log_prob(masked, mode) + distribution.entropy(masked)
    total = total + distribution.kl(masked, distribution.masked(other, mask))
    (found,) = torch.autograd.grad(total.sum(), given)
    expected = torch.zeros(())
    one, two = twins(kind, given[0], mask[0]), twins(kind, other[0], mask[0])
    for (part, where), (against, _), chosen in zip(one, two, mode.reshape(-1), strict=True):
        pick = torch.nonzero(where == chosen)[0, 0]
        expected = expected + part.log_prob(pick) + part.entropy() + kl_divergence(part, against)
    (wanted,) = torch.autograd.grad(expected, given)
    assert torch.allclose(found, wanted, atol=1e-5)
    assert bool(found.any()) and bool(torch.isfinite(found).all())


@pytest.mark.parametrize("kind", BOTH)
def test_nothing_that_is_forbidden_is_ever_drawn(kind):
    distribution, given, _, mask = drawn(kind, 2000, seed=5)
    masked = distribution.masked(3 * given, mask)
    noise = torch.from_numpy(distribution.noise(np.random.default_rng(0), 2000))
    sizes = options(SPACES[kind])
    offsets = torch.from_numpy(np.cumsum([0, *sizes[:-1]]))
    for action in (distribution.sample(masked, noise), distribution.mode(masked)):
        places = action.reshape(2000, -1).long() + offsets
        assert bool(mask.gather(1, places).all())


@pytest.mark.parametrize("kind", BOTH)
def test_samples_are_as_frequent_as_log_prob_says(kind):
    distribution, given, _, mask = drawn(kind, 1, seed=6)
    count = 20_000
    masked = distribution.masked(given, mask).expand(count, -1)
    noise = torch.from_numpy(distribution.noise(np.random.default_rng(1), count))
    action = distribution.sample(masked, noise)
    seen, times = torch.unique(action.reshape(count, -1), dim=0, return_counts=True)
    for one, hits in zip(seen, times, strict=True):
        chosen = one[0] if kind is Categorical else one
        p = float(distribution.log_prob(masked[0], chosen).exp())
        assert abs(float(hits) / count - p) < 5 * math.sqrt(p * (1 - p) / count) + 1e-9


@pytest.mark.parametrize("kind", BOTH)
def test_a_mask_that_allows_everything_changes_nothing(kind):
    distribution, given, _, mask = drawn(kind, 8, seed=7)
    assert torch.equal(distribution.masked(given, torch.ones_like(mask)), given)


def test_numbers_by_hand():
    logits = torch.log(tensor([0.1, 0.2, 0.3, 0.4]))
    distribution = Categorical(spaces.Discrete(4))
    masked = distribution.masked(logits, tensor([1.0, 0.0, 1.0, 0.0]))
    assert distribution.log_prob(masked, tensor(2)).exp() == pytest.approx(0.75)
    expected = -(0.25 * math.log(0.25) + 0.75 * math.log(0.75))
    assert distribution.entropy(masked) == pytest.approx(expected, abs=1e-6)
    one_left = distribution.masked(logits, tensor([0, 0, 0, 1]))
    assert distribution.entropy(one_left) == 0.0
    assert distribution.log_prob(one_left, tensor(3)) == 0.0
    assert distribution.kl(one_left, one_left) == 0.0


def test_a_switch_may_be_held_off_or_on():
    """Off and on of every switch: the first is free, the second held off, the third on."""
    distribution = Bernoulli(spaces.MultiBinary(3))
    logits = tensor([0.5, 3.0, -3.0])
    masked = distribution.masked(logits, tensor([1, 1, 1, 0, 0, 1]))
    assert distribution.mode(masked).tolist() == [1, 0, 1]
    free = TorchBernoulli(logits=tensor(0.5))
    assert distribution.entropy(masked) == pytest.approx(float(free.entropy()), abs=1e-6)
    found = distribution.log_prob(masked, tensor([0, 0, 1]))
    assert found == pytest.approx(float(free.log_prob(tensor(0.0))), abs=1e-6)
