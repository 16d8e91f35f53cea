"""The contract of distributions fails where one of continuous actions is broken."""

from __future__ import annotations

import attrs
import gymnasium as gym
import numpy as np
import pytest
import torch

import rlk_testing as testing
from rlk.component import Component
from rlk.records import Field


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


class TellsOfABell(Bell):
    """Good enough for one check: its own units, -1 to 1, are half of a range of 3."""

    half = 1.5

    def env_action(self, action):
        shaped = (self.space.low + self.half * (action + 1.0)).reshape(-1, *self.space.shape)
        return np.clip(shaped, self.space.low, self.space.high)

    def own_action(self, action):
        return (action - torch.from_numpy(self.space.low)) / self.half - 1.0

    def probabilities(self, parameters):
        mean = torch.from_numpy(self.space.low) + self.half * (parameters + 1.0)
        return mean, torch.full_like(mean, self.half)

    def env_log_prob(self, parameters, action):
        return self.log_prob(parameters, self.own_action(action)) - np.log(self.half)


class TellsItsOwnUnits(TellsOfABell):
    def probabilities(self, parameters):
        return parameters, torch.ones_like(parameters)


class TellsTheVariance(TellsOfABell):
    def probabilities(self, parameters):
        mean, deviation = super().probabilities(parameters)
        return mean, deviation.square()


class TellsTheDensityOfItsOwnUnits(TellsOfABell):
    def env_log_prob(self, parameters, action):
        return self.log_prob(parameters, self.own_action(action))


class TakesActionsAsItsOwn(TellsOfABell):
    """Its densities are right, and who trains with actions of others gets wrong ones."""

    def own_action(self, action):
        return action

    def env_log_prob(self, parameters, action):
        return super().env_log_prob(parameters, super().own_action(action))


@pytest.mark.parametrize(
    "factory",
    [TellsItsOwnUnits, TellsTheVariance, TellsTheDensityOfItsOwnUnits, TakesActionsAsItsOwn],
)
def test_a_distribution_that_tells_a_wrong_mean_deviation_or_density_fails(rlk_fails, factory):
    good = Component(name="b", factory=TellsOfABell, summary="a bell", action_spaces=("Box",))
    spaces = {"action_spaces": (gym.spaces.Box(-2.0, 1.0, (1,)),)}
    check = "test_mean_and_deviation_told_are_those_of_samples_in_the_environments_units"
    broken = attrs.evolve(good, factory=factory)
    rlk_fails(testing.DistributionContract, good, broken, check, **spaces)
