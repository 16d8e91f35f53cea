"""The contract of off-policy algorithms fails for a broken one, in the check for that fault."""

from __future__ import annotations

import dataclasses

import attrs
import pytest
import torch

from rlk.component import Component
from rlk.records import Loss, Update
from rlk_networks.layers import Head, Linear
from rlk_off_policy.actor import GreedyActor
from rlk_off_policy.update_schedule import UpdateSchedule
from rlk_testing import OffPolicyContract
from rlk_testing.stand_ins import COMPONENTS, OffPolicyStandInConfig, RandomActor, stand_in_kernel


class LinearQ:
    """Good: a Q function without hidden layers, its target, and random actions at first."""

    def __init__(self, config, run):
        self.config, self.run, self.policy = config, run, run.policy
        self.schedule = UpdateSchedule(config, run)
        self.target = run.parameters.clone()
        run.group("critic", learning_rate=config.learning_rate)

    @staticmethod
    def heads(config, run):
        n = int(run.action_space.n)
        return {"qf": lambda trunk: Head(layers := trunk("qf"), Linear(layers.features, n))}

    def steps_per_collect(self):
        return self.schedule.steps_per_collect()

    def extras(self):
        return {}

    def actor(self, rng=None):
        return GreedyActor(self.policy, self.run.action_space)

    def explore(self, actor):
        return Explores(actor, self.run, self.config.learning_starts)

    def batches(self, storage):
        for _ in range(self.updates_due(len(storage))):
            yield storage.sample(self.config.batch_size)

    def updates_due(self, stored):
        return self.schedule.updates_due(stored)

    def update(self, batch, optimise):
        loss = optimise("critic", self.loss, batch, self.q_target(batch))
        self.move_target()
        return Update(loss.metrics, td_error=loss.outputs["td_error"])

    @torch.no_grad()
    def q_target(self, batch):
        return batch.reward + batch.discount * self.next_q(batch.next_observation).amax(1)

    def next_q(self, observation):
        return self.target.module(observation, "qf")[0]

    def loss(self, batch, target):
        (q,) = self.policy(batch.observation, "qf")
        error = q.gather(1, batch.action[:, None])[:, 0] - target
        value = (batch.weight * error.square()).mean()
        return Loss(value, metrics={"loss": value}, outputs={"td_error": error})

    def move_target(self):
        self.target.flat.lerp_(self.run.parameters.flat, self.config.tau)

    def state_dict(self):
        return {"target": self.target.state_dict(), "schedule": self.schedule.state_dict()}

    def load_state_dict(self, state):
        self.target.load_state_dict(state["target"])
        self.schedule.load_state_dict(state["schedule"])


class Explores:
    """Random actions before a timestep, and those of the actor from then on."""

    def __init__(self, actor, run, until):
        self.actor, self.run, self.until = actor, run, until
        self.start, self.metrics = actor.start, actor.metrics
        self.random = RandomActor(run.action_space, run.streams.numpy("exploration"))

    def act(self, observation, carry, episode_start, deterministic=False):
        is_random = self.run.timesteps < self.until and not deterministic
        acting = self.random if is_random else self.actor
        return acting.act(observation, carry, episode_start, deterministic)


# ---- when it updates -----------------------------------------------------------------------------


class NeverWaits(LinearQ):
    def updates_due(self, stored):
        return self.config.gradient_steps


class WaitsForNoBatch(LinearQ):
    def updates_due(self, stored):
        return super().updates_due(self.config.batch_size)


class CountsOneEnvironment(LinearQ):
    def updates_due(self, stored):
        return super().updates_due(stored) // self.run.n_envs


class CountsVectorSteps(LinearQ):
    """It waits for `learning_starts` vector steps, whatever the number of environments."""

    def updates_due(self, stored):
        waits = self.run.timesteps // self.run.n_envs < self.config.learning_starts
        return 0 if waits else super().updates_due(stored)


class CollectsStepByStep(LinearQ):
    def steps_per_collect(self):
        return 1


class ForgetsItsSchedule(LinearQ):
    def state_dict(self):
        return {"target": self.target.state_dict()}

    def load_state_dict(self, state):
        self.target.load_state_dict(state["target"])


# ---- how it explores -----------------------------------------------------------------------------


class ExploresByItsPolicy(LinearQ):
    def explore(self, actor):
        return actor


class NeverActs(LinearQ):
    def explore(self, actor):
        return RandomActor(self.run.action_space, self.run.streams.numpy("exploration"))


class ExploresWhereItPredicts(LinearQ):
    def actor(self, rng=None):
        made = super().actor(rng)
        random = RandomActor(self.run.action_space, self.run.streams.numpy("exploration"))
        made.act = lambda observation, carry, start, deterministic=False: random.act(
            observation, carry, start
        )
        return made


class DrawsWhereItPredicts(LinearQ):
    """From the stream that training explores by."""

    def actor(self, rng=None):
        self.run.streams.numpy("exploration").random()
        return super().actor(rng)


class KeepsItsPolicy(LinearQ):
    """Noise that perturbs the policy has no effect on it."""

    def actor(self, rng=None):
        made = super().actor(rng)
        made.with_policy = lambda policy: made
        return made


# ---- what it learns from -------------------------------------------------------------------------


class SharesItsTarget(LinearQ):
    def __init__(self, config, run):
        super().__init__(config, run)
        self.target = run.parameters


class NeverMovesItsTarget(LinearQ):
    def move_target(self):
        pass


class CopiesItsTarget(LinearQ):
    def move_target(self):
        self.target.flat.copy_(self.run.parameters.flat)


class AsksNoTarget(LinearQ):
    """It has a target, which it saves and moves, and takes next values from its policy."""

    def next_q(self, observation):
        return self.policy(observation, "qf")[0]


class BootstrapsAfterTheEnd(LinearQ):
    def q_target(self, batch):
        gamma = torch.full_like(batch.discount, self.config.gamma)
        return super().q_target(dataclasses.replace(batch, discount=gamma))


class KnowsOnlyGamma(LinearQ):
    """It reads from the discount only whether the episode goes on: wrong with n-step replay."""

    def q_target(self, batch):
        discount = self.config.gamma * (batch.discount > 0)
        return super().q_target(dataclasses.replace(batch, discount=discount))


class LooksBack(LinearQ):
    def q_target(self, batch):
        return super().q_target(dataclasses.replace(batch, next_observation=batch.observation))


class IgnoresWeights(LinearQ):
    def loss(self, batch, target):
        ones = torch.ones_like(batch.weight)
        return super().loss(dataclasses.replace(batch, weight=ones), target)


class SquaresWeights(LinearQ):
    def loss(self, batch, target):
        return super().loss(dataclasses.replace(batch, weight=batch.weight**2), target)


class ReportsTheMean(LinearQ):
    def update(self, batch, optimise):
        found = super().update(batch, optimise)
        return found._replace(td_error=found.td_error.mean().expand(len(batch.reward)))


class BoundsItsErrors(LinearQ):
    def update(self, batch, optimise):
        found = super().update(batch, optimise)
        return found._replace(td_error=torch.nn.functional.softsign(found.td_error))


class LearnsFromSequences(LinearQ):
    """Good: what it learns from is among the extras of a batch, here sequences of one step."""

    NAMES = ("reward", "discount", "next_observation")

    def batches(self, storage):
        for batch in super().batches(storage):
            sequence = {f"sequence.{name}": getattr(batch, name) for name in self.NAMES}
            yield dataclasses.replace(batch, extras={**batch.extras, **sequence})

    def q_target(self, batch):
        fields = {name: batch.extras[f"sequence.{name}"] for name in self.NAMES}
        return super().q_target(dataclasses.replace(batch, **fields))


class ReportsItsLosses(LinearQ):
    """Good: as algorithms do that learn a distribution, it gives priority by the loss of each."""

    def update(self, batch, optimise):
        found = super().update(batch, optimise)
        return found._replace(td_error=found.td_error.square())


LINEAR_Q = Component(
    name="linear-q",
    factory=LinearQ,
    summary="learns a linear Q function",
    config=OffPolicyStandInConfig,
    action_spaces=("Discrete",),
    reports=("td_error",),
    deterministic=True,
    defaults=COMPONENTS["algorithms"].defaults,
)


def kernel(suite):
    """Stand-ins for all that a run needs, and the suite's algorithm."""
    made = stand_in_kernel()
    made.registries.algorithms.register(suite.component.name, suite.component)
    return made


class TestLinearQ(OffPolicyContract):
    component = LINEAR_Q
    kernel = kernel


FOLLOWS = "test_its_actor_takes_another_policy_if_it_is_deterministic"
IS_RANDOM = "test_before_learning_starts_all_actions_are_random_if_it_says_so"
PREDICTS = "test_exploration_changes_no_deterministic_prediction"
PRIORITIES = "test_priorities_are_the_errors_of_each_transition"
TARGET = "test_the_target_moves_only_as_it_is_told"
AFTER_THE_END = "test_where_the_discount_is_zero_the_next_observation_counts_for_nothing"
BY_TARGET = "test_the_next_value_is_that_of_the_target_network"
BY_DISCOUNT = "test_the_value_of_the_next_observation_counts_by_the_batchs_discount"


@pytest.mark.parametrize(
    ("factory", "check"),
    [
        (NeverWaits, "test_it_updates_from_the_timestep_on_that_learning_starts"),
        (WaitsForNoBatch, "test_it_updates_only_once_a_whole_batch_of_transitions_is_stored"),
        (WaitsForNoBatch, "test_a_loaded_model_waits_for_a_whole_batch_too"),
        (CollectsStepByStep, "test_it_updates_every_train_freq_vector_steps"),
        (NeverWaits, "test_a_train_freq_in_episodes_waits_for_their_end"),
        (CountsOneEnvironment, "test_gradient_steps_of_minus_one_is_an_update_for_every_timestep"),
        (CountsVectorSteps, "test_several_environments_count_their_timesteps_together"),
        (ForgetsItsSchedule, "test_a_checkpoint_between_the_episodes_of_a_collection_counts_on"),
        (ExploresByItsPolicy, IS_RANDOM),
        (NeverActs, IS_RANDOM),
        (ExploresWhereItPredicts, PREDICTS),
        (DrawsWhereItPredicts, PREDICTS),
        (KeepsItsPolicy, FOLLOWS),
        (SharesItsTarget, "test_the_target_begins_as_a_copy_with_memory_of_its_own"),
        (SharesItsTarget, TARGET),
        (NeverMovesItsTarget, TARGET),
        (CopiesItsTarget, TARGET),
        (AsksNoTarget, BY_TARGET),
        (BootstrapsAfterTheEnd, AFTER_THE_END),
        (KnowsOnlyGamma, BY_DISCOUNT),
        (LooksBack, BY_DISCOUNT),
        (IgnoresWeights, "test_importance_weights_scale_the_loss_of_the_critic"),
        (SquaresWeights, "test_the_loss_of_the_critic_is_linear_in_importance_weights"),
        (ReportsTheMean, PRIORITIES),
        (BoundsItsErrors, PRIORITIES),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_broken_off_policy_algorithm_fails(rlk_fails, factory, check):
    broken = attrs.evolve(LINEAR_Q, factory=factory)
    rlk_fails(OffPolicyContract, LINEAR_Q, broken, check, kernel=kernel)


def test_one_that_can_follow_another_policy_and_does_not_say_so_fails(rlk_fails):
    broken = attrs.evolve(LINEAR_Q, deterministic=False)
    rlk_fails(OffPolicyContract, LINEAR_Q, broken, FOLLOWS, kernel=kernel)


def test_random_actions_before_learning_starts_are_to_be_declared(rlk_fails):
    good = attrs.evolve(LINEAR_Q, factory=ExploresByItsPolicy)
    rlk_fails(OffPolicyContract, good, LINEAR_Q, IS_RANDOM, kernel=kernel, warms_up=False)


@pytest.mark.parametrize(
    ("factory", "bounded"), [(ReportsItsLosses, False), (BoundsItsErrors, True)]
)
def test_priorities_may_be_losses_or_bounded_errors(rlk_verdict, factory, bounded):
    good = attrs.evolve(LINEAR_Q, factory=factory)
    fields = {"component": good, "kernel": kernel, "bounds_returns": bounded}
    assert rlk_verdict(type("Suite", (OffPolicyContract,), fields), PRIORITIES) == "passed"


def test_ranks_that_count_episodes_update_equally_often(rlk_verdict):
    """Each rank counts those of all, as with `mpi`, although they end at other times on each."""
    fields = {"component": LINEAR_Q, "kernel": kernel, "settings": {"train_freq": "1 episode"}}
    check = "test_two_ranks_update_equally_often_and_train_the_same_parameters"
    assert rlk_verdict(type("Suite", (OffPolicyContract,), fields), check) == "passed"


@pytest.mark.parametrize(
    "check",
    [
        "test_it_updates_from_the_timestep_on_that_learning_starts",
        "test_it_updates_only_once_a_whole_batch_of_transitions_is_stored",
        "test_a_loaded_model_waits_for_a_whole_batch_too",
        "test_it_updates_every_train_freq_vector_steps",
        "test_a_train_freq_in_episodes_waits_for_their_end",
    ],
)
def test_a_sound_algorithm_may_have_several_environments_by_default(rlk_verdict, check):
    component = attrs.evolve(LINEAR_Q, defaults={**LINEAR_Q.defaults, "n_envs": 4})
    fields = {"component": component, "kernel": kernel}
    assert rlk_verdict(type("Suite", (OffPolicyContract,), fields), check) == "passed"


@pytest.mark.parametrize("check", [BY_DISCOUNT, PRIORITIES])
def test_an_algorithm_that_learns_from_sequences_is_told_to_say_so(rlk_verdict, check):
    component = attrs.evolve(LINEAR_Q, factory=LearnsFromSequences)
    suite = type("Suite", (OffPolicyContract,), {"component": component, "kernel": kernel})
    assert "if it learns from sequences, set transitions = False" in rlk_verdict(suite, check)


@pytest.mark.parametrize(
    ("check", "expected"),
    [(TARGET, "does not apply"), (BY_TARGET, "does not apply"), (BY_DISCOUNT, "passed")],
)
def test_an_algorithm_may_have_no_target_networks(rlk_verdict, check, expected):
    component = attrs.evolve(LINEAR_Q, factory=AsksNoTarget)
    fields = {"component": component, "kernel": kernel, "target": None}
    assert rlk_verdict(type("Suite", (OffPolicyContract,), fields), check) == expected


@pytest.mark.parametrize("check", [AFTER_THE_END, BY_TARGET, BY_DISCOUNT, PRIORITIES])
def test_fields_of_transitions_stay_where_an_algorithm_learns_from_sequences(rlk_verdict, check):
    component = attrs.evolve(LINEAR_Q, factory=LearnsFromSequences)
    fields = {"component": component, "kernel": kernel, "transitions": False}
    assert rlk_verdict(type("Suite", (OffPolicyContract,), fields), check) == "does not apply"
