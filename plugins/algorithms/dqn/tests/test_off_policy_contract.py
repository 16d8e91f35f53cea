"""The contract of off-policy algorithms fails where DQN is broken, by the check that is meant."""

from __future__ import annotations

import dataclasses

import attrs
import pytest
import torch

from rlk_dqn.algorithm import DQN
from rlk_dqn.component import component
from rlk_testing import OffPolicyContract


def suite(factory):
    made = attrs.evolve(component, name="broken-dqn", factory=factory)
    fields = {
        "component": made,
        "warms_up": False,
        "critic": "q",
        "target_stays": {"target_network_update_freq": 1_000_000},
    }
    return type("Suite", (OffPolicyContract,), fields)


class NeverWaits(DQN):
    def batches(self, storage):
        for _ in range(self.config.gradient_steps):
            yield storage.sample(self.config.batch_size)


class WaitsForNoBatch(DQN):
    def __init__(self, config, run):
        super().__init__(config, run)
        self.schedule._settings = attrs.evolve(config, batch_size=1)


class CountsOneEnvironment(DQN):
    def __init__(self, config, run):
        super().__init__(config, run)
        self.schedule._n_envs = 1


class CollectsStepByStep(DQN):
    def steps_per_collect(self):
        return 1


class SharesItsTarget(DQN):
    def __init__(self, config, run):
        super().__init__(config, run)
        self.target.flat = run.parameters.flat
        self.target._copy = run.parameters


class NeverMovesItsTarget(DQN):
    def batches(self, storage):
        self.target.polyak = lambda tau: None
        return super().batches(storage)


class IgnoresWeights(DQN):
    def loss(self, batch, target):
        return super().loss(
            dataclasses.replace(batch, weight=torch.ones(len(batch.reward))), target
        )


class BootstrapsAfterTheEnd(DQN):
    def update(self, batch, optimise):
        gamma = torch.full_like(batch.discount, self.config.gamma)
        return super().update(dataclasses.replace(batch, discount=gamma), optimise)


class KnowsOnlyGamma(DQN):
    """It reads from the discount only whether the episode goes on: wrong with n-step replay."""

    def update(self, batch, optimise):
        discount = self.config.gamma * (batch.discount > 0)
        return super().update(dataclasses.replace(batch, discount=discount), optimise)


class LooksBack(DQN):
    def q_target(self, batch):
        return super().q_target(dataclasses.replace(batch, next_observation=batch.observation))


class SquaresWeights(DQN):
    def loss(self, batch, target):
        return super().loss(dataclasses.replace(batch, weight=batch.weight**2), target)


class ForgetsItsSchedule(DQN):
    def state_dict(self):
        state = super().state_dict()
        del state["schedule"]
        return state

    def load_state_dict(self, state):
        super().load_state_dict({**state, "schedule": self.schedule.state_dict()})


class AsksNoTarget(DQN):
    """It has a target, which it saves and moves, and takes next values from its policy."""

    def __init__(self, config, run):
        super().__init__(config, run)
        self.target.module = run.policy


class ReportsTheMean(DQN):
    def update(self, batch, optimise):
        found = super().update(batch, optimise)
        return found._replace(td_error=found.td_error.mean().expand(len(batch.reward)))


class ClipsItsErrors(DQN):
    def update(self, batch, optimise):
        found = super().update(batch, optimise)
        return found._replace(td_error=found.td_error.clamp(-1.0, 1.0))


class ReportsItsLosses(DQN):
    """Good: as algorithms do that learn a distribution, it gives priority by the loss of each."""

    def update(self, batch, optimise):
        found = super().update(batch, optimise)
        return found._replace(td_error=found.td_error.square())


class NeverActs(DQN):
    def explore(self, actor):
        made = self.run.streams.numpy("exploration")
        n, first = int(self.run.action_space.n), int(self.run.action_space.start)

        class Random:
            start, metrics = actor.start, actor.metrics

            def act(self, observation, carry, episode_start, deterministic=False):
                from rlk.records import Act

                action = made.integers(0, n, len(episode_start))
                return Act(action, action + first, carry, {})

        return Random()


CASES = [
    (NeverWaits, "test_it_updates_from_the_timestep_on_that_learning_starts"),
    (WaitsForNoBatch, "test_it_updates_only_once_a_whole_batch_of_transitions_is_stored"),
    (WaitsForNoBatch, "test_a_loaded_model_waits_for_a_whole_batch_too"),
    (CountsOneEnvironment, "test_gradient_steps_of_minus_one_is_an_update_for_every_timestep"),
    (CollectsStepByStep, "test_it_updates_every_train_freq_vector_steps"),
    (NeverWaits, "test_a_train_freq_in_episodes_waits_for_their_end"),
    (NeverWaits, "test_several_environments_count_their_timesteps_together"),
    (SharesItsTarget, "test_the_target_begins_as_a_copy_with_memory_of_its_own"),
    (SharesItsTarget, "test_the_target_moves_only_as_it_is_told"),
    (NeverMovesItsTarget, "test_the_target_moves_only_as_it_is_told"),
    (IgnoresWeights, "test_importance_weights_scale_the_loss_of_the_critic"),
    (
        BootstrapsAfterTheEnd,
        "test_where_the_discount_is_zero_the_next_observation_counts_for_nothing",
    ),
    (KnowsOnlyGamma, "test_the_value_of_the_next_observation_counts_by_the_batchs_discount"),
    (LooksBack, "test_the_value_of_the_next_observation_counts_by_the_batchs_discount"),
    (SquaresWeights, "test_the_loss_of_the_critic_is_linear_in_importance_weights"),
    (
        ForgetsItsSchedule,
        "test_a_checkpoint_between_the_episodes_of_a_collection_counts_on",
    ),
    (AsksNoTarget, "test_the_next_value_is_that_of_the_target_network"),
    (ReportsTheMean, "test_priorities_are_the_errors_of_each_transition"),
    (ClipsItsErrors, "test_priorities_are_the_errors_of_each_transition"),
    (NeverActs, "test_before_learning_starts_all_actions_are_random_if_it_says_so"),
]


@pytest.mark.parametrize(
    ("factory", "check"), CASES, ids=lambda value: getattr(value, "__name__", None)
)
def test_a_broken_dqn_fails_the_check_that_is_meant_for_it(rlk_verdict, factory, check):
    assert rlk_verdict(suite(factory), check).startswith("failed: ")


def test_priorities_may_be_the_losses_of_each_transition(rlk_verdict):
    check = "test_priorities_are_the_errors_of_each_transition"
    assert rlk_verdict(suite(ReportsItsLosses), check) == "passed"
