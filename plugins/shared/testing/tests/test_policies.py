"""The contract of policies fails where a component is broken."""

from __future__ import annotations

import copy

import attrs
import numpy as np
import pytest
import torch

import rlk_testing as testing
from rlk.spaces import map_observation
from rlk_testing.stand_ins import COMPONENTS, StandInModule, StandInParameters, StandInPolicy


class FlattensACopy(StandInPolicy):
    def flatten(self, module):
        return super().flatten(copy.deepcopy(module))


class SharesWithItsCopies(StandInPolicy):
    def flatten(self, module):
        flat = super().flatten(module)
        flat.clone = lambda: flat
        return flat


class SeedsItself(StandInPolicy):
    def build(self, observation_space, heads):
        torch.manual_seed(0)
        return super().build(observation_space, heads)


class DrawsFromNumpy(StandInPolicy):
    def build(self, observation_space, heads):
        np.random.random()
        return super().build(observation_space, heads)


class BeginsWithZeros(StandInPolicy):
    def flatten(self, module):
        flat: StandInParameters = super().flatten(module)
        flat.flat.zero_()
        return flat


def computing(module: type) -> type:
    """The stand-in with a module of this class."""

    class Made(StandInPolicy):
        def build(self, observation_space, heads):
            made = super().build(observation_space, heads)
            made.__class__ = module
            return made

    Made.__name__ = module.__name__
    return Made


class HasALayerBesides(StandInPolicy):
    """Not a part of its encoder or of a head."""

    def build(self, observation_space, heads):
        made = super().build(observation_space, heads)
        made.add_module("besides", torch.nn.Linear(1, 1))
        return made


class NormalisesTheBatch(StandInModule):
    def forward(self, observation, *names):
        return super().forward(observation - observation.mean(0), *names)


class ClampsInPlace(StandInModule):
    def forward(self, observation, *names):
        return super().forward(observation.clamp_(-0.5, 0.5), *names)


class HasAConstantOnTheCpu(StandInModule):
    def forward(self, observation, *names):
        return super().forward(observation * torch.ones(5), *names)


class HoldsTheFirstHeadBack(StandInModule):
    def forward(self, observation, *names):
        first, *others = super().forward(observation, *names)
        return (first.detach(), *others)


class SeesTheFirstKeyAlone(StandInModule):
    def forward(self, observation, *names):
        first, *others = observation
        blank = {key: observation[key] * 0 for key in others}
        return super().forward({first: observation[first], **blank}, *names)


class ComputesInFloat64(StandInModule):
    def forward(self, observation, *names):
        observed = map_observation(lambda part: part.float(), observation)
        return tuple(found.double() for found in super().forward(observed, *names))


POLICY = COMPONENTS["policies"]


@pytest.mark.parametrize(
    ("factory", "check"),
    [
        (HasALayerBesides, "test_all_parameters_fit_one_flat_tensor"),
        (FlattensACopy, "test_values_written_to_the_flat_tensor_are_used_at_once"),
        (SharesWithItsCopies, "test_a_copy_has_parameters_of_its_own"),
        (DrawsFromNumpy, "test_it_draws_from_no_generator_but_the_one_that_is_set_for_it"),
        (SeedsItself, "test_the_same_stream_gives_the_same_initial_parameters"),
        (BeginsWithZeros, "test_the_same_stream_gives_the_same_initial_parameters"),
        (
            computing(ComputesInFloat64),
            "test_heads_get_what_they_ask_for_in_every_observation_space",
        ),
        (computing(NormalisesTheBatch), "test_rows_of_a_batch_do_not_influence_each_other"),
        (computing(ClampsInPlace), "test_an_observation_stays_as_it_was"),
        (
            computing(HasAConstantOnTheCpu),
            "test_it_computes_on_the_device_that_it_was_moved_to",
        ),
        (computing(HoldsTheFirstHeadBack), "test_gradients_reach_every_parameter"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_broken_policy_fails(rlk_fails, factory, check):
    rlk_fails(testing.PolicyContract, POLICY, attrs.evolve(POLICY, factory=factory), check)


def test_a_policy_that_leaves_a_key_of_a_dict_aside_fails(rlk_fails):
    good = attrs.evolve(POLICY, observation_spaces=("Dict",))
    broken = attrs.evolve(good, factory=computing(SeesTheFirstKeyAlone))
    rlk_fails(testing.PolicyContract, good, broken, "test_every_key_of_a_dict_makes_a_difference")
