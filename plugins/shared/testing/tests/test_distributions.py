"""The contract of distributions fails where a component is broken."""

from __future__ import annotations

import attrs
import gymnasium as gym
import numpy as np
import pytest
import torch

import rlk_testing as testing
from rlk.component import Component
from rlk.records import Field


class Choice:
    """Good: one of n actions by logits, sampled by the inverse of the running sum."""

    def __init__(self, space):
        self.parameter_size, self.start = int(space.n), int(space.start)
        self.action = Field((), "int64")

    def head(self, features):
        return torch.nn.Linear(features, self.parameter_size)

    def noise(self, rng, batch):
        return rng.random((batch, 1)).astype(np.float32)

    def sample(self, parameters, noise):
        below = torch.softmax(parameters, -1).cumsum(-1)[..., :-1] < noise
        return below.sum(-1)

    def mode(self, parameters):
        return parameters.argmax(-1)

    def log_prob(self, parameters, action):
        chances = torch.log_softmax(parameters, -1)
        return chances.gather(-1, action.long()[..., None])[..., 0]

    def entropy(self, parameters):
        chances = torch.log_softmax(parameters, -1)
        return -(chances.exp() * chances).sum(-1)

    def kl(self, parameters, other):
        one, two = torch.log_softmax(parameters, -1), torch.log_softmax(other, -1)
        return (one.exp() * (one - two)).sum(-1)

    def env_action(self, action):
        return action + self.start


class DoesNotNormalise(Choice):
    def log_prob(self, parameters, action):
        return super().log_prob(parameters, action) + 0.01


class SamplesUniformly(Choice):
    def sample(self, parameters, noise):
        return super().sample(0 * parameters, noise)


class TurnsEntropyRound(Choice):
    def entropy(self, parameters):
        return -super().entropy(parameters)


class CountsEntropyInBits(Choice):
    def entropy(self, parameters):
        return super().entropy(parameters) / np.log(2)


class TurnsKlRound(Choice):
    def kl(self, parameters, other):
        return super().kl(other, parameters)


class IsApartFromItself(Choice):
    def kl(self, parameters, other):
        return super().kl(parameters, other) + 1e-4


class ForgetsTheStart(Choice):
    def env_action(self, action):
        return action


class NeverTakesTheLast(Choice):
    def sample(self, parameters, noise):
        return super().sample(parameters, noise).clamp(max=max(1, self.parameter_size - 2))


class TakesTheWorst(Choice):
    def mode(self, parameters):
        return parameters.argmin(-1)


class LosesTheGradient(Choice):
    def log_prob(self, parameters, action):
        return super().log_prob(parameters.detach(), action) + 0 * parameters.sum(-1)

    def entropy(self, parameters):
        return super().entropy(parameters.detach())


class DrawsItsOwnNoise(Choice):
    def sample(self, parameters, noise):
        return super().sample(parameters, torch.rand_like(noise))


class KnowsOneBatchDimension(Choice):
    def entropy(self, parameters):
        return super().entropy(parameters).reshape(len(parameters), -1).sum(1)


class ComputesInFloat64(Choice):
    def log_prob(self, parameters, action):
        return super().log_prob(parameters.double(), action)


class SubtractsTheMeanOfTheBatch(Choice):
    def entropy(self, parameters):
        return super().entropy(parameters - parameters.mean(0))


class KeepsTheLatestParameters(Choice):
    def sample(self, parameters, noise):
        self.latest = parameters
        return super().sample(parameters, noise)

    def log_prob(self, parameters, action):
        latest = getattr(self, "latest", parameters)
        return super().log_prob(latest if latest.shape == parameters.shape else parameters, action)


class HasAConstantOnTheCpu(Choice):
    def sample(self, parameters, noise):
        return super().sample(parameters * torch.ones(self.parameter_size), noise)


class LooksAtNumbers(Choice):
    def kl(self, parameters, other):
        return super().kl(parameters, other) * (1.0 if bool((other < 100).all()) else 0.0)


class ScalesTheNoiseItself(Choice):
    def sample(self, parameters, noise):
        return super().sample(parameters, noise.mul_(0.9))


class IsFloat64(Choice):
    def noise(self, rng, batch):
        return rng.random((batch, 1))


ON_ITS_DEVICE = "test_it_computes_on_the_device_of_its_parameters_and_reads_no_number"
CHOICE = Component(name="choice", factory=Choice, summary="one of n", action_spaces=("Discrete",))


@pytest.mark.parametrize(
    ("factory", "check"),
    [
        (DoesNotNormalise, "test_probabilities_sum_to_one"),
        (SamplesUniformly, "test_samples_are_as_frequent_as_log_prob_says"),
        (TurnsEntropyRound, "test_entropy_is_the_mean_of_minus_log_prob"),
        (CountsEntropyInBits, "test_entropy_is_the_mean_of_minus_log_prob"),
        (TurnsKlRound, "test_the_divergence_is_the_mean_difference_of_log_prob"),
        (IsApartFromItself, "test_the_divergence_from_itself_is_zero"),
        (ForgetsTheStart, "test_what_the_environment_gets_is_in_its_action_space"),
        (NeverTakesTheLast, "test_every_action_of_the_environment_can_come_up"),
        (TakesTheWorst, "test_the_mode_of_a_countable_distribution_is_its_likeliest_action"),
        (LosesTheGradient, "test_gradients_flow_into_the_parameters"),
        (DrawsItsOwnNoise, "test_a_sample_depends_on_its_parameters_and_noise_alone"),
        (KnowsOneBatchDimension, "test_formulas_take_any_number_of_leading_dimensions"),
        (IsFloat64, "test_noise_is_float32_with_one_row_for_each_action"),
        (ComputesInFloat64, "test_results_have_the_type_of_the_parameters"),
        (SubtractsTheMeanOfTheBatch, "test_rows_of_a_batch_do_not_influence_each_other"),
        (KeepsTheLatestParameters, "test_rows_of_a_batch_do_not_influence_each_other"),
        (HasAConstantOnTheCpu, ON_ITS_DEVICE),
        (LooksAtNumbers, ON_ITS_DEVICE),
        (ScalesTheNoiseItself, "test_what_it_is_given_stays_as_it_was"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_broken_distribution_fails(rlk_fails, factory, check):
    broken = attrs.evolve(CHOICE, factory=factory)
    rlk_fails(testing.DistributionContract, CHOICE, broken, check)


class HasNoFormulas(Choice):
    """Good: what a distribution without formulas does, such as a mixture of Gaussians."""

    def entropy(self, parameters):
        raise NotImplementedError

    def kl(self, parameters, other):
        raise NotImplementedError


class ReturnsZeroForKl(HasNoFormulas):
    def kl(self, parameters, other):
        return torch.zeros(parameters.shape[:-1])


WITHOUT_FORMULAS = {"has_entropy": False, "has_kl": False}


def test_a_distribution_without_formulas_passes_if_its_suite_says_so(rlk_verdict):
    component = attrs.evolve(CHOICE, factory=HasNoFormulas)
    fields = {"component": component, **WITHOUT_FORMULAS}
    suite = type("Suite", (testing.DistributionContract,), fields)
    own = set(dir(testing.DistributionContract)).difference(dir(testing.Contract))
    checks = [name for name in own if name.startswith("test_")]
    verdicts = {name: rlk_verdict(suite, name) for name in checks}
    assert verdicts["test_what_has_no_formula_raises_not_implemented_error"] == "passed"
    assert set(verdicts.values()) == {"passed", "does not apply"}, verdicts


def test_a_number_in_place_of_a_missing_formula_fails(rlk_fails):
    good, broken = (attrs.evolve(CHOICE, factory=one) for one in (HasNoFormulas, ReturnsZeroForKl))
    check = "test_what_has_no_formula_raises_not_implemented_error"
    rlk_fails(testing.DistributionContract, good, broken, check, **WITHOUT_FORMULAS)


class Bell:
    """Good enough for one check: a Gaussian of unit spread; its density may be off by a factor."""

    factor, parameter_size, action = 1.0, 1, Field((1,), "float32")

    def __init__(self, space):
        self.space = space

    def noise(self, rng, batch):
        return rng.standard_normal((batch, 1)).astype(np.float32)

    def sample(self, parameters, noise):
        return parameters + noise

    def log_prob(self, parameters, action):
        density = -0.5 * (action - parameters).square() - 0.5 * np.log(2 * np.pi)
        return density.sum(-1) + np.log(self.factor)


class TooTall(Bell):
    factor = 1.05


def test_a_density_that_does_not_integrate_to_one_fails(rlk_fails):
    good = Component(name="bell", factory=Bell, summary="a bell", action_spaces=("Box",))
    spaces = {"action_spaces": (gym.spaces.Box(-1.0, 1.0, (1,)),)}
    check = "test_samples_lie_in_an_interval_as_often_as_the_density_says"
    rlk_fails(
        testing.DistributionContract, good, attrs.evolve(good, factory=TooTall), check, **spaces
    )


class Clipped(Bell):
    """Good enough for one check: in the environment's units, and clipped to its bounds."""

    def __init__(self, space):
        super().__init__(space)
        self.parameter_size = int(np.prod(space.shape))

    def head(self, features):
        return torch.nn.Linear(features, self.parameter_size)

    def env_action(self, action):
        shaped = action.reshape(-1, *self.space.shape).astype(self.space.dtype)
        return np.clip(shaped, self.space.low, self.space.high)


class Squashes(Clipped):
    """The bounds are infinite in its own units."""

    def own_action(self, action):
        low, high = torch.from_numpy(self.space.low), torch.from_numpy(self.space.high)
        return torch.atanh(2.0 * (action - low) / (high - low) - 1.0)


class ScalesInFloat32(Clipped):
    """Rounding takes a bound out of the space."""

    def own_action(self, action):
        return 3.0 * action

    def env_action(self, action):
        return (action.reshape(-1, *self.space.shape) / np.float32(3.0)).astype(self.space.dtype)


@pytest.mark.parametrize("factory", [Squashes, ScalesInFloat32])
def test_a_distribution_that_loses_the_bounds_of_a_box_fails(rlk_fails, factory):
    good = Component(name="clipped", factory=Clipped, summary="a bell", action_spaces=("Box",))
    check = "test_the_bounds_of_a_box_are_in_it_and_have_a_probability"
    broken = attrs.evolve(good, factory=factory)
    rlk_fails(testing.DistributionContract, good, broken, check)


class Hill(Bell):
    """Good enough for one check: its mode is that of the bell, or not."""

    off = 0.0

    def mode(self, parameters):
        return parameters + self.off


class Beside(Hill):
    off = 0.1


def test_a_mode_that_is_neither_the_likeliest_action_nor_the_median_fails(rlk_fails):
    good = Component(name="bell", factory=Hill, summary="a bell", action_spaces=("Box",))
    spaces = {"action_spaces": (gym.spaces.Box(-1.0, 1.0, (1,)),)}
    check = "test_the_mode_in_a_box_is_its_likeliest_action_or_its_median"
    broken = attrs.evolve(good, factory=Beside)
    rlk_fails(testing.DistributionContract, good, broken, check, **spaces)


class LogNormal(Hill):
    """Good: where the density of a sample e^x is highest, it is below the median e^mean."""

    def sample(self, parameters, noise):
        return super().sample(parameters, noise).exp()

    def log_prob(self, parameters, action):
        return super().log_prob(parameters, action.log()) - action.log().sum(-1)

    def mode(self, parameters):
        return parameters.exp()


class LikeliestLogNormal(LogNormal):
    def mode(self, parameters):
        return (parameters - 1.0).exp()


@pytest.mark.parametrize("factory", [LogNormal, LikeliestLogNormal])
def test_a_mode_may_be_the_median_or_the_likeliest_action(rlk_verdict, factory):
    good = Component(name="skewed", factory=factory, summary="skewed", action_spaces=("Box",))
    spaces = {"action_spaces": (gym.spaces.Box(0.0, 10.0, (1,)),)}
    suite = type("Suite", (testing.DistributionContract,), {"component": good, **spaces})
    check = "test_the_mode_in_a_box_is_its_likeliest_action_or_its_median"
    assert rlk_verdict(suite, check) == "passed"


class Spread:
    """Good enough for one check: a Gaussian around zero whose one parameter is log(std)."""

    parameter_size, action = 1, Field((1,), "float32")

    def __init__(self, space):
        self.space = space

    def independent_noise(self, rng, batch):
        return rng.standard_normal((batch, 1)).astype(np.float32)

    def sample_with_log_prob(self, parameters, noise):
        action = parameters.exp() * noise
        return action, self.log_prob(parameters, action)

    def log_prob(self, parameters, action):
        scaled = action * (-parameters).exp()
        return (-0.5 * scaled.square() - parameters - 0.5 * np.log(2 * np.pi)).sum(-1)


class CountsTwice(Spread):
    def sample_with_log_prob(self, parameters, noise):
        action, log_prob = super().sample_with_log_prob(parameters, noise)
        return action, 2 * log_prob


class HoldsHalfTheActionBack(Spread):
    def sample_with_log_prob(self, parameters, noise):
        action, log_prob = super().sample_with_log_prob(parameters, noise)
        return (action + action.detach()) / 2, log_prob


@pytest.mark.parametrize("factory", [CountsTwice, HoldsHalfTheActionBack])
def test_a_sample_with_a_wrong_log_prob_or_gradient_fails(rlk_fails, factory):
    good = Component(name="spread", factory=Spread, summary="a bell", action_spaces=("Box",))
    spaces = {"action_spaces": (gym.spaces.Box(-1.0, 1.0, (1,)),)}
    check = "test_a_sample_comes_with_its_log_prob_and_both_with_their_gradients"
    broken = attrs.evolve(good, factory=factory)
    rlk_fails(testing.DistributionContract, good, broken, check, **spaces)
