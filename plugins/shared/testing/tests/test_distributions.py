"""The contract of distributions fails where one of countable actions is broken."""

from __future__ import annotations

import attrs
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


class LeavesOneLogitOut(Choice):
    """The last action always has the logit 0."""

    def head(self, features):
        return torch.nn.Linear(features, self.parameter_size - 1)


class SamplesColumns(Choice):
    def sample(self, parameters, noise):
        return super().sample(parameters, noise)[..., None]


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
        (LeavesOneLogitOut, "test_its_head_gives_flat_parameters"),
        (SamplesColumns, "test_samples_are_actions_as_storages_keep_them"),
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


class Tells(Choice):
    """Good: tells how likely the environment's actions are."""

    def probabilities(self, parameters):
        return torch.softmax(parameters, -1)

    def env_log_prob(self, parameters, action):
        return self.log_prob(parameters, action - self.start)


class TellsThatAllAreAsLikely(Tells):
    def probabilities(self, parameters):
        return super().probabilities(0 * parameters)


class TellsOfTheOthers(Tells):
    def env_log_prob(self, parameters, action):
        return (1 - super().env_log_prob(parameters, action).exp()).log()


@pytest.mark.parametrize("factory", [TellsThatAllAreAsLikely, TellsOfTheOthers])
def test_a_distribution_that_tells_wrong_probabilities_fails(rlk_fails, factory):
    good, broken = (attrs.evolve(CHOICE, factory=one) for one in (Tells, factory))
    check = "test_probabilities_told_of_a_countable_distribution_are_those_of_log_prob"
    rlk_fails(testing.DistributionContract, good, broken, check)
