"""The contract of storages fails where collections or samples are not what was added."""

from __future__ import annotations

import copy
import dataclasses
from types import SimpleNamespace

import attrs
import numpy as np
import pytest
import torch

from rlk.errors import RlkError
from rlk.records import Step
from rlk_testing import StorageContract
from rlk_testing.stand_ins import COMPONENTS, StandInStorage


class ListRollout:
    """Good, except that a file could not hold its states: the steps of one collection."""

    def open(self, schema):
        self.schema, self.steps = schema, []

    def add(self, step):
        if len(self.steps) == self.schema.n_steps:
            self.restart()
        step.extras["log_prob"]  # which the schema asks for
        self.steps.append(copy.deepcopy(step))

    def restart(self):
        self.steps = []

    def __len__(self):
        is_complete = len(self.steps) == self.schema.n_steps
        return is_complete * self.schema.n_steps * self.schema.n_envs

    def latest(self):
        found = Step(*(list(values) for values in zip(*self.steps, strict=True)))
        finals = [(t, env) for t, ended in enumerate(found.final_observation) for env in ended]
        return SimpleNamespace(
            observation=stacked(found.observation),
            action=stacked(found.action),
            reward=stacked(found.reward),
            terminated=stacked(found.terminated),
            truncated=stacked(found.truncated),
            next_observation=found.next_observation[-1],
            final_time=np.array([t for t, _ in finals]),
            final_env=np.array([env for _, env in finals]),
            final_observation=stacked([found.final_observation[t][env] for t, env in finals]),
            extras={"log_prob": stacked([extras["log_prob"] for extras in found.extras])},
        )

    def state_dict(self):
        return {"steps": self.steps}

    def load_state_dict(self, state):
        self.steps = list(state["steps"])


def stacked(parts):
    if parts and isinstance(parts[0], dict):
        return {key: np.stack([part[key] for part in parts]) for key in parts[0]}
    return np.stack(parts) if parts else np.zeros(0)


class ExchangesFlags(ListRollout):
    def latest(self):
        found = super().latest()
        found.terminated, found.truncated = found.truncated, found.terminated
        return found


class LosesFinals(ListRollout):
    def add(self, step):
        super().add(step._replace(final_observation={}))


class GivesFloat64(ListRollout):
    def latest(self):
        found = super().latest()
        found.reward = found.reward.astype(np.float64)
        return found


class GivesFlagsAsNumbers(ListRollout):
    def latest(self):
        found = super().latest()
        found.terminated = found.terminated.astype(np.float32)
        return found


class LosesFinalsOnceLoaded(ListRollout):
    def load_state_dict(self, state):
        self.steps = [step._replace(final_observation={}) for step in state["steps"]]


class LosesTheNextObservationOnceLoaded(ListRollout):
    def load_state_dict(self, state):
        *steps, last = state["steps"]
        self.steps = [*steps, last._replace(next_observation=np.zeros((2, 3), np.float32))]


class CountsWhatIsUnfinished(ListRollout):
    def __len__(self):
        return len(self.steps) * self.schema.n_envs


class GoesOnWithACollectionThatWasCutShort(ListRollout):
    def restart(self):
        if len(self):
            super().restart()


class KeepsTheFirstCollection(ListRollout):
    def add(self, step):
        if len(self.steps) < self.schema.n_steps:
            super().add(step)


ROLLOUT = attrs.evolve(COMPONENTS["storages"], factory=ListRollout, collects="on-policy")
CUT_SHORT = "test_a_collection_that_was_cut_short_does_not_spoil_the_next"


@pytest.mark.parametrize(
    ("factory", "check"),
    [
        (ExchangesFlags, "test_a_rollout_is_exactly_what_was_added"),
        (LosesFinals, "test_every_end_of_an_episode_comes_with_what_it_ended_on"),
        (GivesFloat64, "test_rewards_and_flags_have_the_types_of_the_record"),
        (GivesFlagsAsNumbers, "test_rewards_and_flags_have_the_types_of_the_record"),
        (LosesFinalsOnceLoaded, "test_a_rollout_comes_back_from_its_state"),
        (LosesTheNextObservationOnceLoaded, "test_a_rollout_comes_back_from_its_state"),
        (CountsWhatIsUnfinished, "test_a_rollout_counts_its_transitions_once_it_is_complete"),
        (GoesOnWithACollectionThatWasCutShort, CUT_SHORT),
        (KeepsTheFirstCollection, "test_the_next_collection_takes_the_place_of_the_last"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_broken_rollout_fails(rlk_fails, factory, check):
    rlk_fails(StorageContract, ROLLOUT, attrs.evolve(ROLLOUT, factory=factory), check)


class RestartsOnlyWhatWasBegun(ListRollout):
    def restart(self):
        if not self.steps:
            raise RlkError("there is nothing to restart")
        super().restart()


def test_a_storage_is_restarted_where_nothing_was_cut_short(rlk_fails):
    broken = attrs.evolve(ROLLOUT, factory=RestartsOnlyWhatWasBegun)
    rlk_fails(StorageContract, ROLLOUT, broken, CUT_SHORT, "RlkError: there is nothing")


# ---- replay --------------------------------------------------------------------------------------


class BeginsWithOne(StandInStorage):
    def __len__(self):
        return max(1, super().__len__())


class DrawsWhereItAdds(StandInStorage):
    def add(self, step):
        np.random.random()
        super().add(step)


class SavesAnObject(StandInStorage):
    def state_dict(self):
        return {**super().state_dict(), "schema": self.schema}


class GivesRewardsInFloat64(StandInStorage):
    def sample(self, batch_size):
        batch = super().sample(batch_size)
        return dataclasses.replace(batch, reward=batch.reward.double())


class GivesDiscountsAsColumns(StandInStorage):
    def sample(self, batch_size):
        batch = super().sample(batch_size)
        return dataclasses.replace(batch, discount=batch.discount[:, None])


class KeepsOneNumberOfAnAction(StandInStorage):
    def sample(self, batch_size):
        batch = super().sample(batch_size)
        return dataclasses.replace(batch, action=batch.action.reshape(batch_size, -1)[:, 0])


class NumbersTheRowsOfABatch(StandInStorage):
    def sample(self, batch_size):
        return dataclasses.replace(super().sample(batch_size), index=np.arange(batch_size))


class SpoilsDiscountsByFeedback(StandInStorage):
    def feedback(self, batch, update):
        for step in self._steps:
            step["discount"] = step["discount"] * 0


class AsksForErrors(StandInStorage):
    def feedback(self, batch, update):
        self.errors = update.td_error.abs()


class EndsEpisodesWhereACollectionIsCutShort(StandInStorage):
    def restart(self):
        for step in self._steps:
            step["discount"] = step["discount"] * 0


class WeighsTheNewestLess(StandInStorage):
    """Good: importance weights, as of a storage that samples what is new more often."""

    largest = 1.0

    def sample(self, batch_size):
        batch = super().sample(batch_size)
        return dataclasses.replace(batch, weight=torch.linspace(self.largest, 0.5, batch_size))


class WeighsMoreThanOnce(WeighsTheNewestLess):
    largest = 2.0


REPLAY = attrs.evolve(COMPONENTS["storages"], collects="off-policy")
SHAPES = "test_replay_batches_have_the_shapes_and_types_of_the_record"
FEEDBACK = "test_replay_takes_feedback_without_complaint"


@pytest.mark.parametrize(
    ("factory", "check"),
    [
        (BeginsWithOne, "test_it_is_empty_when_it_was_opened"),
        (DrawsWhereItAdds, "test_adding_draws_from_no_global_generator"),
        (SavesAnObject, "test_its_state_is_plain"),
        (GivesRewardsInFloat64, SHAPES),
        (GivesDiscountsAsColumns, SHAPES),
        (WeighsMoreThanOnce, SHAPES),
        (KeepsOneNumberOfAnAction, "test_replay_gives_back_actions_of_every_kind"),
        (NumbersTheRowsOfABatch, "test_replay_gives_the_same_transition_the_same_index"),
        (SpoilsDiscountsByFeedback, FEEDBACK),
        (AsksForErrors, FEEDBACK),
        (EndsEpisodesWhereACollectionIsCutShort, CUT_SHORT),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_replay_that_gives_back_something_else_fails(rlk_fails, factory, check):
    error = "AttributeError: 'NoneType' object" if factory is AsksForErrors else ""
    rlk_fails(StorageContract, REPLAY, attrs.evolve(REPLAY, factory=factory), check, error)


def test_a_replay_may_weigh_its_transitions(rlk_verdict):
    component = attrs.evolve(REPLAY, factory=WeighsTheNewestLess)
    suite = type("Suite", (StorageContract,), {"component": component})
    assert rlk_verdict(suite, SHAPES) == "passed"
