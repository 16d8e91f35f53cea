"""Contracts of storages and serializers fail where a component is broken."""

from __future__ import annotations

import dataclasses
import json
import pickle
import zipfile
import zlib
from types import SimpleNamespace

import attrs
import numpy as np
import pytest
import torch

import rlk_testing as testing
from rlk.component import Component
from rlk.errors import BadFile, RlkError
from rlk_testing import stand_ins
from rlk_testing.forged import packed
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
            raise RlkError("one is enough")
        self._decorator = decorator
        if len(self):
            decorator.added(np.arange(len(self)))

    def sample(self, batch_size):
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
            "decorator": self._decorator.state_dict(),
        }

    def load_state_dict(self, state):
        super().load_state_dict(state)
        self._rows[: len(state["rows"])], self._written = state["rows"], state["written"]
        self._decorator.load_state_dict(state["decorator"])


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
        (HasAStageMore, "test_it_has_a_method_for_every_stage_that_it_declares_and_for_no_other"),
        (GivesOutItsMemory, "test_batches_stay_as_they_are_while_more_is_added"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_broken_decorator_fails(rlk_fails, factory, check):
    broken = attrs.evolve(DECORATOR, factory=factory)

    def new_base(self):
        return StagedReplay()

    rlk_fails(testing.DecoratorContract, DECORATOR, broken, check, new_base=new_base)


def test_a_decorator_that_needs_what_no_update_reports_fails(rlk_fails):
    broken = attrs.evolve(DECORATOR, needs=("happiness",))
    check = "test_what_it_needs_is_what_some_update_could_report"
    rlk_fails(testing.DecoratorContract, DECORATOR, broken, check)


# ---- serializers ---------------------------------------------------------------------------------


class Pickles(stand_ins.StandInSerializer):
    def write(self, path, state):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(pickle.dumps(state))

    def read(self, path):
        return pickle.loads(path.read_bytes())


class ReadsPicklesToo(stand_ins.StandInSerializer):
    def read(self, path):
        data = path.read_bytes()
        return pickle.loads(data) if data[:1] == b"\x80" else super().read(path)


class HasNoChecksum(stand_ins.StandInSerializer):
    def write(self, path, state):
        super().write(path, state)
        path.write_bytes(zlib.decompress(path.read_bytes()))

    def read(self, path):
        aside = path.with_name("aside")
        aside.write_bytes(zlib.compress(path.read_bytes()))
        return super().read(aside)


class TakesWhatIsLeft(HasNoChecksum):
    def read(self, path):
        try:
            return super().read(path)
        except BadFile:
            return {"manifest": {}}


class TransposesSilently(stand_ins.StandInSerializer):
    def write(self, path, state):
        super().write(path, {k: _raveled(v) for k, v in state.items()})


def _raveled(value):
    if isinstance(value, np.ndarray) and value.ndim == 2:
        return np.frombuffer(value.tobytes("A"), value.dtype).reshape(value.shape)
    return value


class MakesArraysOfTensors(stand_ins.StandInSerializer):
    def write(self, path, state):
        super().write(
            path, {k: v.numpy() if isinstance(v, torch.Tensor) else v for k, v in state.items()}
        )


class TakesTheManifestOut(stand_ins.StandInSerializer):
    def write(self, path, state):
        manifest = state.pop("manifest")
        super().write(path, {"manifest": manifest, **state})


class HasNoManifest(stand_ins.StandInSerializer):
    def manifest(self, path):
        return self.read(path)


class ClaimsEveryFile(stand_ins.StandInSerializer):
    def find(self, place, best=False):
        return place if place.is_file() else super().find(place, best)


class NeverMeansTheBest(stand_ins.StandInSerializer):
    def find(self, place, best=False):
        return super().find(place)


class EmptiesTheFileFirst(stand_ins.StandInSerializer):
    def write(self, path, state):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"")
        super().write(path, state)


class WritesInPlace(stand_ins.StandInSerializer):
    def write(self, path, state):
        path.write_bytes(zlib.compress(json.dumps(stand_ins._pack(state)).encode()))


class NamesNoFile(stand_ins.StandInSerializer):
    def read(self, path):
        try:
            return super().read(path)
        except BadFile:
            raise BadFile("this file is bad") from None


class WritesPlainZips(stand_ins.StandInSerializer):
    """As somebody might begin: JSON in a zip, of which everything is believed."""

    def write(self, path, state):
        document = json.dumps(stand_ins._pack(state)).encode()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(packed([("state.json", document)]))

    def read(self, path):
        try:
            with zipfile.ZipFile(path) as archive:
                return stand_ins._unpack(json.loads(archive.read("state.json")))
        except zipfile.BadZipFile as error:
            raise BadFile(str(error)) from None


SERIALIZER = COMPONENTS["serializers"]


@pytest.mark.parametrize(
    ("factory", "check"),
    [
        (Pickles, "test_an_object_that_is_no_state_is_not_written"),
        (ReadsPicklesToo, "test_a_pickle_is_refused_and_not_run"),
        (Pickles, "test_other_files_are_refused"),
        (HasNoChecksum, "test_a_file_with_a_byte_changed_is_refused_or_read_as_it_was"),
        (TakesWhatIsLeft, "test_a_file_that_was_cut_off_is_refused"),
        (TransposesSilently, "test_arrays_that_are_not_contiguous_come_back_as_they_look"),
        (MakesArraysOfTensors, "test_tensors_of_every_type_and_shape_come_back_bit_for_bit"),
        (TakesTheManifestOut, "test_writing_leaves_the_state_as_it_was"),
        (HasNoManifest, "test_the_manifest_can_be_read_by_itself"),
        (ClaimsEveryFile, "test_a_file_is_found_by_its_name_with_and_without_the_suffix"),
        (NeverMeansTheBest, "test_a_run_folder_means_its_model_and_else_its_newest_checkpoint"),
        (EmptiesTheFileFirst, "test_a_write_that_fails_leaves_what_was_there"),
        (WritesInPlace, "test_a_full_disk_leaves_what_was_there"),
        (WritesPlainZips, "test_a_file_with_other_values_is_refused_or_read_as_a_state"),
        (WritesPlainZips, "test_a_file_in_which_a_name_is_there_twice_is_refused"),
        (NamesNoFile, "test_a_file_that_is_not_there_or_bad_is_refused_by_its_name"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_broken_serializer_fails(rlk_fails, factory, check):
    broken = attrs.evolve(SERIALIZER, factory=factory)
    rlk_fails(testing.SerializerContract, SERIALIZER, broken, check)


def test_a_serializer_that_reads_newer_files_without_a_word_fails(rlk_verdict):
    class Suite(testing.SerializerContract):
        component = SERIALIZER

        def newer(self, data):
            return data

    found = rlk_verdict(Suite, "test_a_file_of_a_newer_format_is_refused")
    assert found.startswith("failed")
