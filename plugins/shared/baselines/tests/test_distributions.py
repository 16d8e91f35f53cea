from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import torch
from gymnasium import spaces

from rlk.errors import PlanError
from rlk_baselines.common.distributions import (
    BernoulliProbabilityDistribution,
    CategoricalProbabilityDistribution,
    CategoricalProbabilityDistributionType,
    DiagGaussianProbabilityDistribution,
    MultiCategoricalProbabilityDistribution,
    ProbabilityDistribution,
    ProbabilityDistributionType,
    make_proba_dist_type,
)


def test_a_categorical_one_by_hand() -> None:
    found = CategoricalProbabilityDistribution(torch.log(torch.tensor([[0.25, 0.75]])))
    assert found.mode().tolist() == [1] and found.flatparam() is found.logits
    assert found.neglogp([0]).item() == pytest.approx(np.log(4))
    entropy = -(0.25 * np.log(0.25) + 0.75 * np.log(0.75))
    assert found.entropy().item() == pytest.approx(entropy)
    even = CategoricalProbabilityDistribution.fromflat(torch.zeros(1, 2))
    assert found.kl(even).item() == pytest.approx(np.log(2) - entropy)
    assert found.sample().item() in (0, 1)


def test_the_others_by_hand() -> None:
    gaussian = DiagGaussianProbabilityDistribution(torch.tensor([[1.0, 0.0]]))
    assert (gaussian.mean.item(), gaussian.std.item(), gaussian.mode().item()) == (1, 1, 1)
    assert gaussian.neglogp([[2.0]]).item() == pytest.approx(0.5 + 0.5 * np.log(2 * np.pi))
    assert gaussian.entropy().item() == pytest.approx(0.5 * np.log(2 * np.pi * np.e))
    standard = DiagGaussianProbabilityDistribution(torch.zeros(1, 2))
    assert gaussian.kl(standard).item() == pytest.approx(0.5)
    switches = BernoulliProbabilityDistribution(torch.tensor([[0.0, 50.0]]))
    assert switches.neglogp([[1, 1]]).item() == pytest.approx(np.log(2))
    fair, certain = (
        BernoulliProbabilityDistribution(torch.tensor([[logit]])) for logit in (0.0, 50.0)
    )
    assert fair.entropy().item() == pytest.approx(np.log(2))
    assert certain.kl(fair).item() == pytest.approx(np.log(2), rel=1e-5)
    several = MultiCategoricalProbabilityDistribution([2, 3], torch.zeros(1, 5))
    assert several.neglogp([[1, 2]]).item() == pytest.approx(np.log(6))
    assert several.entropy().item() == pytest.approx(np.log(6))
    first_and_last = torch.tensor([[50.0, 0.0, 0.0, 0.0, 50.0]])
    sure = MultiCategoricalProbabilityDistribution([2, 3], first_and_last)
    assert sure.kl(several).item() == pytest.approx(np.log(6))


THREE_QUARTERS = torch.tensor([0.25, 0.75]).log()


@pytest.mark.parametrize(
    ("kind", "flat", "mean", "deviation"),
    [
        (CategoricalProbabilityDistribution, THREE_QUARTERS, 0.75, np.sqrt(0.1875)),
        (
            partial(MultiCategoricalProbabilityDistribution, [2, 2]),
            torch.cat((THREE_QUARTERS, torch.zeros(2))),
            [0.75, 0.5],
            [np.sqrt(0.1875), 0.5],
        ),
        (
            BernoulliProbabilityDistribution,
            torch.tensor([np.log(3.0), 0.0]),
            [0.75, 0.5],
            [np.sqrt(0.1875), 0.5],
        ),
        (
            DiagGaussianProbabilityDistribution,
            torch.tensor([1.0, -2.0, 0.0, np.log(0.5)]),
            [1.0, -2.0],
            [1.0, 0.5],
        ),
    ],
)
def test_samples_are_as_frequent_as_they_are_probable(kind, flat, mean, deviation) -> None:
    torch.manual_seed(0)
    drawn = kind(flat.expand(4000, -1)).sample().double()
    np.testing.assert_allclose(drawn.mean(0), mean, atol=0.06)
    np.testing.assert_allclose(drawn.std(0), deviation, atol=0.03)


@pytest.mark.parametrize(
    ("space", "parameters", "shape"),
    [
        (spaces.Discrete(3), [3], []),
        (spaces.Box(-1, 1, (2,)), [4], [2]),
        (spaces.MultiDiscrete([2, 3]), [5], [2]),
        (spaces.MultiBinary(4), [4], [4]),
    ],
)
def test_an_action_space_has_its_kind(space, parameters, shape) -> None:
    kind = make_proba_dist_type(space)
    assert (kind.param_shape(), kind.sample_shape()) == (parameters, shape)
    made = kind.proba_distribution_from_flat(torch.zeros(2, *parameters))
    assert isinstance(made, kind.probability_distribution_class())
    assert made.sample().shape == (2, *shape) and made.sample().dtype == kind.sample_dtype()


def test_what_hidden_layers_give_becomes_a_distribution_by_layers_that_are_kept() -> None:
    kind = make_proba_dist_type(spaces.Box(-1, 1, (2,)))
    latent = torch.ones(3, 4)  # both layers have the same initial scale, here 0
    found, mean, values = kind.proba_distribution_from_latent(
        latent, torch.ones(3, 5), init_scale=0.0, init_bias=0.5
    )
    assert mean.tolist() == values.tolist() == [[0.5, 0.5]] * 3
    assert found.flatparam().tolist() == [[0.5, 0.5, 0.0, 0.0]] * 3
    found.neglogp(torch.zeros(3, 2)).sum().backward()
    # d/dmean of (0 - mean)^2 / 2 is 0.5 for each of 3; d/dlog_std of it and log_std: 1 - 0.25.
    assert kind.heads.pi.bias.grad.tolist() == [1.5, 1.5]
    assert kind.heads.log_std.grad.tolist() == [2.25, 2.25]
    assert torch.equal(kind.proba_distribution_from_latent(latent, torch.ones(3, 5))[1], mean)


def test_a_space_without_distribution_is_refused() -> None:
    with pytest.raises(PlanError, match="only for Box"):
        make_proba_dist_type(spaces.Dict({}))


class Exponential(ProbabilityDistribution):
    """A custom distribution: exponential, with rates [B]."""

    def __init__(self, rate: torch.Tensor) -> None:
        super().__init__()
        self.rate = rate

    def neglogp(self, x: torch.Tensor) -> torch.Tensor:
        return self.rate * x - self.rate.log()


class ExponentialType(ProbabilityDistributionType):
    def probability_distribution_class(self):
        return Exponential

    def param_shape(self):
        return [2]


def test_a_programs_own_distribution_has_what_follows_from_its_methods() -> None:
    own = Exponential(torch.tensor([2.0]))
    assert own.logp(torch.tensor([3.0])).item() == pytest.approx(np.log(2) - 6)
    with pytest.raises(NotImplementedError):
        own.entropy()


def test_a_programs_own_kind_makes_distributions_of_its_class() -> None:
    kind = ExponentialType()
    assert kind.proba_distribution_from_flat(torch.ones(3)).rate.tolist() == [1.0] * 3
    made, found, values = kind.proba_distribution_from_latent(
        torch.ones(3, 4), torch.ones(3, 4), init_scale=0.0, init_bias=0.5
    )
    assert made.rate is found and found.tolist() == [[0.5, 0.5]] * 3 and values.shape == (3, 2)
    with pytest.raises(NotImplementedError):
        kind.sample_shape()


def test_a_class_of_distributions_that_is_replaced_is_made() -> None:
    class Careful(CategoricalProbabilityDistribution):
        pass

    class Kind(CategoricalProbabilityDistributionType):
        def probability_distribution_class(self):
            return Careful

    assert type(Kind(3).proba_distribution_from_flat(torch.zeros(2, 3))) is Careful


@pytest.mark.parametrize(
    "space",
    [
        spaces.Discrete(3),
        spaces.Box(-1, 1, (2,)),
        spaces.MultiDiscrete([2, 3]),
        spaces.MultiBinary(4),
    ],
)
def test_parameters_of_one_distribution_give_one_action(space) -> None:
    kind = make_proba_dist_type(space)
    made = kind.proba_distribution_from_flat(torch.zeros(kind.param_shape()))
    action = made.sample()
    assert list(action.shape) == list(made.mode().shape) == kind.sample_shape()
    assert made.neglogp(action).shape == made.entropy().shape == ()


def test_parts_of_the_parameters_have_their_names() -> None:
    switches = BernoulliProbabilityDistribution(torch.tensor([[0.0, 1.0]]))
    assert switches.logits.tolist() == [[0.0, 1.0]]
    several = MultiCategoricalProbabilityDistribution([2, 3], torch.arange(5.0)[None])
    assert [one.logits.tolist() for one in several.categoricals] == [[[0, 1]], [[2, 3, 4]]]
