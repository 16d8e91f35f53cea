"""The contract of recurrent policies fails where a component is broken."""

from __future__ import annotations

import attrs
import pytest
import torch

from rlk.component import Component
from rlk_networks import flat_size
from rlk_testing import PolicyContract
from rlk_testing.stand_ins import NoLayers


class Remembers(torch.nn.Module):
    """Good: Elman's network, tanh of the observation and what went before."""

    features = state_size = 4

    def __init__(self, inputs):
        super().__init__()
        self.inputs = torch.nn.Linear(inputs, 4)
        self.before = torch.nn.Linear(4, 4, bias=False)

    def step(self, x, state, episode_start):
        state = torch.where(episode_start[:, None], 0.0, state)
        features = torch.tanh(self.inputs(x.flatten(1)) + self.before(state))
        return features, features

    def forward(self, x, state, episode_start):
        found = []
        for rows, start in zip(x.split(episode_start.shape[1]), episode_start, strict=True):
            features, state = self.step(rows, state, start)
            found.append(features)
        return torch.cat(found)


def recurrent(encoder: type) -> type:
    class Made(NoLayers):
        def encoder(self, observation_space):
            return encoder(flat_size(observation_space))

    Made.__name__ = encoder.__name__
    return Made


class NeverForgets(Remembers):
    def step(self, x, state, episode_start):
        return super().step(x, state, torch.zeros_like(episode_start))


class ForgetsInSequences(Remembers):
    def forward(self, x, state, episode_start):
        return super().forward(x, torch.zeros_like(state), episode_start)


class SkipsMasksInSequences(Remembers):
    def forward(self, x, state, episode_start):
        return super().forward(x, state, torch.zeros_like(episode_start))


class LosesTheGradientOfTime(Remembers):
    def forward(self, x, state, episode_start):
        found = []
        for rows, start in zip(x.split(episode_start.shape[1]), episode_start, strict=True):
            features, state = self.step(rows, state.detach(), start)
            found.append(features)
        return torch.cat(found)


class SharesItsState(Remembers):
    def step(self, x, state, episode_start):
        return super().step(x, state.mean(0, keepdim=True).expand_as(state), episode_start)


class WritesToItsState(Remembers):
    def step(self, x, state, episode_start):
        state[episode_start] = 0.0
        return super().step(x, state, episode_start)


class HasOneEnvironmentOnly(Remembers):
    def step(self, x, state, episode_start):
        features, after = super().step(x, state, episode_start)
        return features, after[:1]


class CountsRows(Remembers):
    def step(self, x, state, episode_start):
        return super().step(x, state.view(len(x), 4), episode_start)


class HasAnIdleLayer(Remembers):
    def __init__(self, inputs):
        super().__init__(inputs)
        self.idle = torch.nn.Linear(2, 2)


class IsBoundToTheOriginal(Remembers):
    def __init__(self, inputs):
        super().__init__(inputs)
        self.call = lambda x: self.inputs(x)

    def step(self, x, state, episode_start):
        state = torch.where(episode_start[:, None], 0.0, state)
        features = torch.tanh(self.call(x.flatten(1)) + self.before(state))
        return features, features


class HasAConstantOnTheCpu(Remembers):
    def step(self, x, state, episode_start):
        return super().step(x, state * torch.ones(4), episode_start)


PLAIN = Component(name="plain", factory=NoLayers, summary="no hidden layers")
POLICY = attrs.evolve(PLAIN, factory=recurrent(Remembers), recurrent=True)


@pytest.mark.parametrize(
    ("encoder", "check"),
    [
        (NeverForgets, "test_where_an_episode_starts_the_state_is_forgotten"),
        (ForgetsInSequences, "test_sequences_in_one_call_are_what_step_by_step_gives"),
        (SkipsMasksInSequences, "test_sequences_in_one_call_are_what_step_by_step_gives"),
        (LosesTheGradientOfTime, "test_sequences_in_one_call_have_the_gradients_of_step_by_step"),
        (SharesItsState, "test_environments_do_not_see_each_others_state"),
        (WritesToItsState, "test_what_it_is_given_stays_as_it_was"),
        (HasOneEnvironmentOnly, "test_its_state_goes_in_and_out_for_any_number_of_environments"),
        (CountsRows, "test_rlk_export_can_write_it_as_a_program_for_any_batch"),
        (HasAnIdleLayer, "test_gradients_reach_every_parameter"),
        (HasAConstantOnTheCpu, "test_a_step_is_computed_on_the_device_that_it_was_moved_to"),
        (IsBoundToTheOriginal, "test_a_copy_has_parameters_of_its_own"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_broken_recurrent_policy_fails(rlk_fails, encoder, check):
    broken = attrs.evolve(POLICY, factory=recurrent(encoder))
    error = "RlkError: torch.export cannot trace the policy" if encoder is CountsRows else ""
    rlk_fails(PolicyContract, POLICY, broken, check, error)


def test_a_policy_that_does_not_say_that_it_is_recurrent_fails(rlk_fails):
    broken = attrs.evolve(POLICY, recurrent=False)
    rlk_fails(
        PolicyContract,
        POLICY,
        broken,
        "test_only_what_says_that_it_is_recurrent_has_a_state",
    )


def test_a_policy_that_says_it_without_being_so_fails(rlk_fails):
    broken = attrs.evolve(PLAIN, recurrent=True)
    check = "test_only_what_says_that_it_is_recurrent_has_a_state"
    rlk_fails(PolicyContract, PLAIN, broken, check)


def test_checks_of_sequences_do_not_apply_to_policies_that_are_not_recurrent(rlk_verdict):
    suite = type("Suite", (PolicyContract,), {"component": PLAIN})
    found = rlk_verdict(suite, "test_where_an_episode_starts_the_state_is_forgotten")
    assert found == "does not apply"
