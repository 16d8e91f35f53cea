"""Contracts of policies and distributions fail where a component is broken."""

from __future__ import annotations

import attrs
import gymnasium as gym
import numpy as np
import pytest
import torch

from rlk import testing
from rlk.component import Component
from rlk.records import Field
from rlk.testing import stand_ins
from rlk.testing.stand_ins import COMPONENTS


class Hidden(stand_ins.StandInPolicy):
    """Good: one hidden layer for each head."""

    def trunk(self, role, features, *, extra=0, copies=1):
        if copies > 1:
            return super().trunk(role, features, extra=extra, copies=copies)
        return HiddenLayer(features + extra)


class HiddenLayer(torch.nn.Module):
    def __init__(self, inputs, size=4):
        super().__init__()
        self.layer, self.features = torch.nn.Linear(inputs, size), size

    def forward(self, x):
        return torch.tanh(self.layer(x))

    def numpy_forward(self):
        weight, bias = self.layer.weight.detach().numpy(), self.layer.bias.detach().numpy()
        return lambda x: np.tanh(x @ weight.T + bias)


def hidden(layer: type) -> type:
    class Made(Hidden):
        def trunk(self, role, features, *, extra=0, copies=1):
            return layer(features + extra)

    Made.__name__ = layer.__name__
    return Made


class LiesAboutFeatures(HiddenLayer):
    def __init__(self, inputs):
        super().__init__(inputs)
        self.layer = torch.nn.Linear(inputs, 7)


class HasAnIdleLayer(HiddenLayer):
    def __init__(self, inputs):
        super().__init__(inputs)
        self.idle = torch.nn.Linear(2, 2)


class NormalisesTheBatch(HiddenLayer):
    def forward(self, x):
        found = super().forward(x)
        return found - found.mean(0)


class IsBoundToTheOriginal(HiddenLayer):
    def __init__(self, inputs):
        super().__init__(inputs)
        self.call = lambda x: torch.tanh(self.layer(x))

    def forward(self, x):
        return self.call(x)


class HasAnotherLayerTwin(HiddenLayer):
    def numpy_forward(self):
        forward = super().numpy_forward()
        return lambda x: forward(x) + 1e-3


class HasAStaleTwin(HiddenLayer):
    def numpy_forward(self):
        weight, bias = self.layer.weight.detach().clone().numpy(), self.layer.bias.detach().numpy()
        return lambda x: np.tanh(x @ weight.T + bias)


class SeedsItself(HiddenLayer):
    def __init__(self, inputs):
        torch.manual_seed(0)
        super().__init__(inputs)


class DrawsFromNumpy(HiddenLayer):
    def __init__(self, inputs):
        super().__init__(inputs)
        with torch.no_grad():
            self.layer.bias.fill_(float(np.random.random()))


POLICY = attrs.evolve(COMPONENTS["policies"], factory=Hidden)


@pytest.mark.parametrize(
    ("layer", "check"),
    [
        (LiesAboutFeatures, "test_encoder_and_trunk_say_how_many_features_they_put_out"),
        (HasAnIdleLayer, "test_gradients_reach_every_parameter"),
        (NormalisesTheBatch, "test_rows_of_a_batch_do_not_influence_each_other"),
        (IsBoundToTheOriginal, "test_a_copy_has_parameters_of_its_own"),
        (HasAnotherLayerTwin, "test_its_numpy_twin_if_it_has_one_equals_torch"),
        (HasAStaleTwin, "test_its_numpy_twin_if_it_has_one_equals_torch"),
        (SeedsItself, "test_the_same_stream_gives_the_same_initial_parameters"),
        (DrawsFromNumpy, "test_it_draws_from_no_generator_but_the_one_that_is_set_for_it"),
        (HiddenLayer, "test_copies_of_a_trunk_are_independent_and_computed_in_one_call"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_broken_policy_fails(fails, layer, check):
    broken = attrs.evolve(POLICY, factory=hidden(layer))
    fails(testing.PolicyContract, POLICY, broken, check)


# ---- distributions -------------------------------------------------------------------------------


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

    def numpy_sample(self, parameters, noise):
        tensor = torch.from_numpy(parameters)
        action = self.sample(tensor, torch.from_numpy(noise))
        return action.numpy(), self.log_prob(tensor, action).numpy()

    def numpy_mode(self, parameters):
        return parameters.argmax(-1)


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


class HasAnotherTwin(Choice):
    def numpy_sample(self, parameters, noise):
        action, log_prob = super().numpy_sample(parameters, noise)
        return (action + 1) % self.parameter_size, log_prob


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


class IsFloat64(Choice):
    def noise(self, rng, batch):
        return rng.random((batch, 1))


CHOICE = Component(name="choice", factory=Choice, summary="one of n", action_spaces=("Discrete",))


@pytest.mark.parametrize(
    ("factory", "check"),
    [
        (DoesNotNormalise, "test_probabilities_sum_to_one"),
        (SamplesUniformly, "test_samples_are_as_frequent_as_log_prob_says"),
        (TurnsEntropyRound, "test_entropy_is_the_mean_of_minus_log_prob"),
        (CountsEntropyInBits, "test_entropy_is_the_mean_of_minus_log_prob"),
        (TurnsKlRound, "test_the_divergence_is_the_mean_difference_of_log_prob"),
        (HasAnotherTwin, "test_its_numpy_twins_equal_torch"),
        (ForgetsTheStart, "test_what_the_environment_gets_is_in_its_action_space"),
        (NeverTakesTheLast, "test_every_action_of_the_environment_can_come_up"),
        (TakesTheWorst, "test_the_mode_of_a_countable_distribution_is_its_likeliest_action"),
        (LosesTheGradient, "test_gradients_flow_into_the_parameters"),
        (DrawsItsOwnNoise, "test_a_sample_depends_on_its_parameters_and_noise_alone"),
        (KnowsOneBatchDimension, "test_formulas_take_any_number_of_leading_dimensions"),
        (IsFloat64, "test_noise_is_float32_with_one_row_for_each_action"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_broken_distribution_fails(fails, factory, check):
    broken = attrs.evolve(CHOICE, factory=factory)
    fails(testing.DistributionContract, CHOICE, broken, check)


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


def test_a_density_that_does_not_integrate_to_one_fails(fails):
    good = Component(name="bell", factory=Bell, summary="a bell", action_spaces=("Box",))
    spaces = {"action_spaces": (gym.spaces.Box(-1.0, 1.0, (1,)),)}
    check = "test_samples_lie_in_an_interval_as_often_as_the_density_says"
    fails(testing.DistributionContract, good, attrs.evolve(good, factory=TooTall), check, **spaces)
