"""The contract of storages fails where arrays are shared, of another type or elsewhere."""

from __future__ import annotations

import dataclasses

import attrs
import numpy as np
import pytest
import torch

from rlk.spaces import map_observation
from rlk_testing import StorageContract
from rlk_testing.stand_ins import COMPONENTS, StandInStorage

AS_ADDED = "test_replay_gives_back_exactly_what_was_added"
STAY = "test_replay_batches_stay_as_they_are_while_more_is_added"
TYPES = "test_replay_gives_back_the_types_of_what_was_added"


class KeepsRewards(StandInStorage):
    def add(self, step):
        super().add(step)
        self._steps[-1]["reward"] = step.reward


class KeepsActions(StandInStorage):
    def add(self, step):
        super().add(step)
        self._steps[-1]["action"] = step.action


class KeepsExtras(StandInStorage):
    def add(self, step):
        super().add(step)
        self._steps[-1]["extras.log_prob"] = step.extras["log_prob"]


class WritesIntoTheStep(StandInStorage):
    """The next action would be chosen for the observation that an episode ended on."""

    def add(self, step):
        super().add(step)
        for env, final in step.final_observation.items():
            if not isinstance(final, dict):
                step.next_observation[env] = final


class SharesItsIndex(StandInStorage):
    index = np.zeros(10_000, np.int64)

    def sample(self, batch_size):
        batch = super().sample(batch_size)
        self.index[:batch_size] = batch.index
        return dataclasses.replace(batch, index=self.index[:batch_size])


class SharesItsExtras(StandInStorage):
    def sample(self, batch_size):
        batch = super().sample(batch_size)
        self.kept = getattr(self, "kept", batch.extras)
        self.kept["log_prob"].copy_(batch.extras["log_prob"])
        return dataclasses.replace(batch, extras=self.kept)


class MakesImagesFloat(StandInStorage):
    def sample(self, batch_size):
        batch = super().sample(batch_size)
        observation = map_observation(torch.Tensor.float, batch.observation)
        return dataclasses.replace(batch, observation=observation)


class MakesActionsDouble(StandInStorage):
    def sample(self, batch_size):
        batch = super().sample(batch_size)
        return dataclasses.replace(batch, action=batch.action.double())


class PutsWeightsOnTheCpu(StandInStorage):
    def sample(self, batch_size):
        batch = super().sample(batch_size)
        return dataclasses.replace(batch, weight=torch.ones(batch_size))


class KeepsTheLoadedList(StandInStorage):
    def load_state_dict(self, state):
        super().load_state_dict(state)
        self._steps = state["steps"]

    def add(self, step):
        kept = self._steps
        super().add(step)
        kept[:] = self._steps
        self._steps = kept


class HasADiscountOfItsOwn(StandInStorage):
    def open(self, schema):
        super().open(dataclasses.replace(schema, gamma=0.9))


class ForgetsAllAtARestart(StandInStorage):
    def restart(self):
        self._steps = []


REPLAY = attrs.evolve(COMPONENTS["storages"], collects="off-policy")


@pytest.mark.parametrize(
    ("factory", "check"),
    [
        (KeepsRewards, AS_ADDED),
        (KeepsActions, AS_ADDED),
        (KeepsExtras, AS_ADDED),
        (WritesIntoTheStep, "test_it_leaves_a_step_as_it_was"),
        (SharesItsIndex, STAY),
        (SharesItsExtras, STAY),
        (MakesImagesFloat, TYPES),
        (MakesActionsDouble, TYPES),
        (PutsWeightsOnTheCpu, "test_replay_batches_are_on_the_device_of_the_run"),
        (KeepsTheLoadedList, "test_replay_goes_on_after_loading_as_it_would_have_without"),
        (HasADiscountOfItsOwn, "test_replay_serves_one_environment_and_many"),
        (
            ForgetsAllAtARestart,
            "test_replay_keeps_complete_collections_where_a_later_one_is_cut_short",
        ),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_broken_replay_fails(rlk_fails, factory, check):
    rlk_fails(StorageContract, REPLAY, attrs.evolve(REPLAY, factory=factory), check)


class Collects(StandInStorage):
    """Good enough for one check: it has as many transitions as a collection, or none."""

    def __len__(self):
        return super().__len__() if len(self._steps) == self.schema.n_steps else 0


class CountsUnfinishedCollections(StandInStorage):
    pass


def test_a_rollout_that_can_be_learnt_from_before_it_is_complete_fails(rlk_fails):
    good = attrs.evolve(REPLAY, factory=Collects, collects="on-policy")
    broken = attrs.evolve(good, factory=CountsUnfinishedCollections)
    check = "test_a_rollout_counts_its_transitions_once_it_is_complete"
    rlk_fails(StorageContract, good, broken, check)
