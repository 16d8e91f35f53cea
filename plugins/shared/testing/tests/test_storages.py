"""The contracts of storages fail where a component is broken."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import attrs
import numpy as np
import pytest
import torch

import rlk_testing as testing
from rlk.component import Component
from rlk.errors import RlkError
from rlk_testing import stand_ins
from rlk_testing.stand_ins import COMPONENTS


class SharesMemory(stand_ins.StandInStorage):
    def add(self, step):
        super().add(step)
        self._steps[-1]["observation"] = step.observation


class ForgetsFinals(stand_ins.StandInStorage):
    def add(self, step):
        super().add(step._replace(final_observation={}))


class CutsTruncated(stand_ins.StandInStorage):
    def add(self, step):
        super().add(step._replace(terminated=step.terminated | step.truncated))


class NeverForgets(stand_ins.StandInStorage):
    size = 10_000_000


class LeavesOutTheNewest(stand_ins.StandInStorage):
    def sample(self, batch_size):
        kept, self._steps = self._steps, self._steps[:-1] or self._steps
        try:
            return super().sample(batch_size)
        finally:
            self._steps = kept


class DrawsGlobally(stand_ins.StandInStorage):
    def sample(self, batch_size):
        self.schema.rng.bit_generator.state = np.random.PCG64(np.random.randint(99)).state
        return super().sample(batch_size)


class NeverTakesTheOldest(stand_ins.StandInStorage):
    def sample(self, batch_size):
        kept, self._steps = self._steps, self._steps[1:] or self._steps
        try:
            return super().sample(batch_size)
        finally:
            self._steps = kept


class ForgetsItsSteps(stand_ins.StandInStorage):
    def load_state_dict(self, state):
        super().load_state_dict({"steps": state["steps"][:-1]})


class TakesAnything(stand_ins.StandInStorage):
    def load_state_dict(self, state):
        self._steps = list(state["steps"])


class MissesExtras(stand_ins.StandInStorage):
    def add(self, step):
        extras = {name: np.zeros(self.schema.n_envs) for name in self.schema.extras}
        super().add(step._replace(extras={**extras, **step.extras}))


class EmptyIsFine(stand_ins.StandInStorage):
    def sample(self, batch_size):
        return super().sample(batch_size) if self._steps else None


class SharesItsWeights(stand_ins.StandInStorage):
    def sample(self, batch_size):
        batch = super().sample(batch_size)
        self.weight = getattr(self, "weight", batch.weight)
        return dataclasses.replace(batch, weight=self.weight)


STORAGE = attrs.evolve(COMPONENTS["storages"], collects="off-policy")


@pytest.mark.parametrize(
    ("factory", "check"),
    [
        (SharesMemory, "test_replay_gives_back_exactly_what_was_added"),
        (ForgetsFinals, "test_replay_gives_back_exactly_what_was_added"),
        (CutsTruncated, "test_replay_gives_back_exactly_what_was_added"),
        (LeavesOutTheNewest, "test_replay_samples_the_newest_transition_and_those_that_ended"),
        (NeverTakesTheOldest, "test_replay_samples_uniformly_unless_a_decorator_chooses"),
        (DrawsGlobally, "test_replay_draws_from_its_own_stream_alone"),
        (
            SharesItsWeights,
            "test_replay_gives_the_same_batches_whatever_is_written_into_earlier_ones",
        ),
        (NeverForgets, "test_it_takes_memory_once_however_many_steps_are_added"),
        (ForgetsItsSteps, "test_its_state_comes_back_bit_for_bit"),
        (ForgetsItsSteps, "test_replay_goes_on_after_loading_as_it_would_have_without"),
        (TakesAnything, "test_a_state_of_other_observations_is_refused"),
        (MissesExtras, "test_a_step_without_an_extra_of_the_schema_is_refused"),
        (EmptyIsFine, "test_an_empty_replay_refuses_to_be_sampled"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_broken_replay_fails(rlk_fails, factory, check):
    rlk_fails(testing.StorageContract, STORAGE, attrs.evolve(STORAGE, factory=factory), check)


def test_a_replay_that_says_that_it_decorates_fails(rlk_fails):
    broken = attrs.evolve(STORAGE, stages=("choose",))
    rlk_fails(testing.StorageContract, STORAGE, broken, "test_it_decorates_nothing")


# ---- decorating storages -------------------------------------------------------------------------


class StagedReplay(stand_ins.StandInStorage):
    """A base with slots and the one stage `choose`; the ring of slots is its list of steps."""

    variants = 1

    def open(self, schema):
        super().open(schema)
        self.slots, self._written = self.size * schema.n_envs, 0
        self._rows = [None] * self.size
        self._chooser = self._decorator = None

    def add(self, step):
        super().add(step)
        n_envs, row = self.schema.n_envs, self._written % self.size
        self._rows[row], self._written = self._steps[-1], self._written + 1
        if self._decorator is not None:
            self._decorator.added(np.arange(row * n_envs, (row + 1) * n_envs))

    def decorate(self, decorator):
        if self._decorator is not None:
            raise RlkError("its one stage is taken")
        self._decorator = decorator
        if len(self):
            decorator.added(self.oldest_first())

    def oldest_first(self):
        return np.roll(np.arange(len(self)), -self._written * self.schema.n_envs)

    def sample(self, batch_size):
        if self._decorator is None:
            return super().sample(batch_size)
        index, weight = self._decorator.choose(batch_size)
        kept, rng = self._steps, self.schema.rng
        self._steps = self._rows[: len(kept)]
        self.schema = dataclasses.replace(
            self.schema, rng=SimpleNamespace(integers=lambda *_, **__: index % self.slots)
        )
        try:
            batch = super().sample(batch_size)
        finally:
            self._steps, self.schema = kept, dataclasses.replace(self.schema, rng=rng)
        return dataclasses.replace(batch, index=index, weight=torch.from_numpy(weight))

    def feedback(self, batch, update):
        self._decorator.feedback(batch, update)

    def state_dict(self):
        rows = [row for row in self._rows if row is not None]
        return {
            **super().state_dict(),
            "rows": rows,
            "written": self._written,
            "decorator": self._decorator and self._decorator.state_dict(),
        }

    def load_state_dict(self, state):
        super().load_state_dict(state)
        self._rows[: len(state["rows"])], self._written = state["rows"], state["written"]
        if state["decorator"]:
            self._decorator.load_state_dict(state["decorator"])
        elif self._decorator:
            self._decorator.added(self.oldest_first())


class TellsOfNoStep(StagedReplay):
    def add(self, step):
        kept, self._decorator = self._decorator, None
        super().add(step)
        self._decorator = kept


class TellsNobodyWhatWasThere(StagedReplay):
    def decorate(self, decorator):
        self._decorator = decorator


class TellsNobodyWhatWasSaved(StagedReplay):
    def load_state_dict(self, state):
        kept, self._decorator = self._decorator, None
        super().load_state_dict(state)
        self._decorator = kept


class TakesAnyDecorator(StagedReplay):
    def decorate(self, decorator):
        self._decorator = None
        super().decorate(decorator)


class TellsInTheOrderOfSlots(StagedReplay):
    def oldest_first(self):
        return np.arange(len(self))


@pytest.mark.parametrize(
    ("factory", "joins"),
    [
        (TellsOfNoStep, "before the first step"),
        (TellsNobodyWhatWasThere, "later"),
        (TellsNobodyWhatWasSaved, "after its state was loaded"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_replay_that_does_not_tell_its_decorator_fails(rlk_fails, rlk_verdict, factory, joins):
    good, broken = (attrs.evolve(STORAGE, factory=kind) for kind in (StagedReplay, factory))
    check = "test_a_decorator_is_told_of_all_that_is_stored_whenever_it_joins"
    rlk_fails(testing.StorageContract, good, broken, check)
    suite = type("Suite", (testing.StorageContract,), {"component": broken})
    assert f"that joins {joins} is not told" in rlk_verdict(suite, check)


def test_a_replay_that_takes_two_decorators_for_one_stage_fails(rlk_fails):
    good, broken = (attrs.evolve(STORAGE, factory=f) for f in (StagedReplay, TakesAnyDecorator))
    check = "test_a_second_decorator_of_the_same_stage_is_refused"
    rlk_fails(testing.StorageContract, good, broken, check)


def test_a_replay_that_tells_its_decorator_in_another_order_than_age_fails(rlk_fails, rlk_verdict):
    kinds = (StagedReplay, TellsInTheOrderOfSlots)
    good, broken = (attrs.evolve(STORAGE, factory=kind) for kind in kinds)
    check = "test_a_decorator_is_told_of_all_that_is_stored_whenever_it_joins"
    rlk_fails(testing.StorageContract, good, broken, check)
    suite = type("Suite", (testing.StorageContract,), {"component": broken})
    assert "joins later is told of slots in another order" in rlk_verdict(suite, check)


class Recent:
    """Good: prefers transitions of which the last TD error was large."""

    def open(self, base, schema):
        self.base, self.rng = base, schema.rng
        self.score = np.ones(base.slots)

    def added(self, slots):
        self.score[slots] = 1.0

    def chances(self):
        known = self.score[: len(self.base)]
        return known / known.sum()

    def choose(self, n):
        chances = self.chances()
        index = self.rng.choice(len(chances), size=n, p=chances).astype(np.int64)
        weight = chances.min() / chances[index]
        return index, weight.astype(np.float32)

    def feedback(self, batch, update):
        error = update.td_error.abs().numpy()
        if np.isfinite(error).all():
            self.score[batch.index] = error + 0.01

    def state_dict(self):
        return {"score": self.score}

    def load_state_dict(self, state):
        self.score[...] = state["score"]


class ChoosesWhatIsNotThere(Recent):
    def choose(self, n):
        return self.rng.integers(self.base.slots * 2, size=n), np.ones(n, np.float32)


class WeighsTooMuch(Recent):
    def choose(self, n):
        index, weight = super().choose(n)
        return index, weight * 3


class TakesInNan(Recent):
    def feedback(self, batch, update):
        self.score[batch.index] = update.td_error.abs().numpy() + 0.01

    def chances(self):
        known = np.nan_to_num(self.score[: len(self.base)], nan=0.0)
        return known / known.sum()

    def choose(self, n):
        index, weight = super().choose(n)
        return index, weight / np.float32(self.score[: len(self.base)].max())


class DrawsForItself(Recent):
    def open(self, base, schema):
        super().open(base, schema)
        self.rng = np.random.default_rng()


class ForgetsScores(Recent):
    def load_state_dict(self, state):
        pass


class ForgetsTheNewest(Recent):
    """What it saves is wrong until the next step is added."""

    newest = 0

    def added(self, slots):
        super().added(slots)
        self.newest = int(slots[-1])

    def choose(self, n):
        index, weight = super().choose(n)
        index[0] = self.newest
        return index, weight

    def state_dict(self):
        return {**super().state_dict(), "newest": 0}


class KeepsTheLoadedArray(Recent):
    def load_state_dict(self, state):
        self.score = state["score"]


class HasAStageMore(Recent):
    def fold(self, window):
        return window


class GivesOutItsMemory(Recent):
    def choose(self, n):
        index, weight = super().choose(n)
        self.kept = getattr(self, "kept", np.zeros(4096, np.float32))
        self.kept[:n] = weight
        return index, self.kept[:n]


DECORATOR = Component(
    name="recent", factory=Recent, summary="prefers errors", stages=("choose",), needs=("td_error",)
)


@pytest.mark.parametrize(
    ("factory", "check"),
    [
        (ChoosesWhatIsNotThere, "test_the_index_of_a_batch_is_one_that_the_base_knows"),
        (WeighsTooMuch, "test_weights_are_positive_and_finite_and_at_most_one"),
        (TakesInNan, "test_feedback_that_is_not_finite_does_not_spoil_later_samples"),
        (DrawsForItself, "test_it_draws_from_the_storages_stream_alone"),
        (ForgetsScores, "test_its_state_is_plain_and_gives_the_same_samples"),
        (KeepsTheLoadedArray, "test_its_state_is_plain_and_gives_the_same_samples"),
        (ForgetsTheNewest, "test_its_state_is_plain_and_gives_the_same_samples"),
        (HasAStageMore, "test_it_has_a_method_for_every_stage_that_it_declares_and_for_no_other"),
        (GivesOutItsMemory, "test_batches_stay_as_they_are_while_more_is_added"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_broken_decorator_fails(rlk_fails, factory, check):
    broken = attrs.evolve(DECORATOR, factory=factory)
    error = "IndexError: list index" if factory is ChoosesWhatIsNotThere else ""

    def new_base(self):
        return StagedReplay()

    rlk_fails(testing.DecoratorContract, DECORATOR, broken, check, error, new_base=new_base)


def test_a_decorator_that_needs_what_no_update_reports_fails(rlk_fails):
    broken = attrs.evolve(DECORATOR, needs=("happiness",))
    check = "test_what_it_needs_is_what_some_update_could_report"
    rlk_fails(testing.DecoratorContract, DECORATOR, broken, check)
