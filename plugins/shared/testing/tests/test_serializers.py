"""The contract of serializers fails where a component is broken."""

from __future__ import annotations

import json
import pickle
import zipfile
import zlib

import attrs
import numpy as np
import pytest
import torch

import rlk_testing as testing
from rlk.errors import BadFile
from rlk_testing import stand_ins
from rlk_testing.stand_ins import COMPONENTS
from rlk_testing.stand_ins.serializer import pack, unpack
from rlk_testing.tools.forged_files import packed


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


class ForgetsTheByteOrder(stand_ins.StandInSerializer):
    def write(self, path, state):
        super().write(path, {k: _in_native_order(v) for k, v in state.items()})


def _in_native_order(value):
    if isinstance(value, np.ndarray):
        native = value.dtype.newbyteorder("=")
        return np.frombuffer(value.tobytes(), native).reshape(value.shape)
    return value


class HasNoUnsignedTypes(stand_ins.StandInSerializer):
    def write(self, path, state):
        super().write(path, {k: _signed(v) for k, v in state.items()})


def _signed(value):
    is_unsigned = isinstance(value, np.ndarray) and value.dtype.name in ("uint16", "uint32")
    return value.astype(np.int64) if is_unsigned else value


class WritesNumbersOfNumpyAsText(stand_ins.StandInSerializer):
    def write(self, path, state):
        values = state.get("values", {})
        texts = {k: str(v) if isinstance(v, np.generic) else v for k, v in values.items()}
        super().write(path, {**state, "values": texts})


class NamesArraysByTheirPath(stand_ins.StandInSerializer):
    """The names `a/b` of the array in {"a": {"b": array}} and in {"a/b": array} are the same."""

    def write(self, path, state):
        arrays = {}

        def named(value, path):
            if isinstance(value, dict):
                return {key: named(part, [*path, key]) for key, part in value.items()}
            if isinstance(value, list):
                return [named(part, [*path, str(i)]) for i, part in enumerate(value)]
            if isinstance(value, torch.Tensor):
                arrays["/".join(path)] = value
                return {"named": "/".join(path)}
            return value

        super().write(path, {"manifest": {}, "state": named(state, []), "arrays": arrays})

    def read(self, path):
        found = super().read(path)

        def put_back(value):
            if isinstance(value, list):
                return [put_back(part) for part in value]
            if not isinstance(value, dict):
                return value
            if value.keys() == {"named"}:
                return found["arrays"][value["named"]]
            return {key: put_back(part) for key, part in value.items()}

        return put_back(found["state"])


class ReplacesAnotherSuffix(stand_ins.StandInSerializer):
    def find(self, path, best=False):
        named = path.with_suffix(self.suffix)
        return super().find(path, best) if path.is_dir() else named if named.is_file() else None


class TakesTheManifestOut(stand_ins.StandInSerializer):
    def write(self, path, state):
        manifest = state.pop("manifest")
        super().write(path, {"manifest": manifest, **state})


class HasNoManifest(stand_ins.StandInSerializer):
    def manifest(self, path):
        return self.read(path)


class ClaimsEveryFile(stand_ins.StandInSerializer):
    def find(self, path, best=False):
        return path if path.is_file() else super().find(path, best)


class LooksInAFolderOnly(stand_ins.StandInSerializer):
    def find(self, path, best=False):
        found = super().find(path, best)
        return None if found and path.is_dir() and path not in found.parents else found


class NeverMeansTheBest(stand_ins.StandInSerializer):
    def find(self, path, best=False):
        return super().find(path)


class EmptiesTheFileFirst(stand_ins.StandInSerializer):
    def write(self, path, state):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"")
        super().write(path, state)


class WritesInPlace(stand_ins.StandInSerializer):
    def write(self, path, state):
        path.write_bytes(zlib.compress(json.dumps(pack(state)).encode()))


class LeavesAFileBeside(stand_ins.StandInSerializer):
    def write(self, path, state):
        super().write(path, state)
        path.with_name("index").write_text(path.name)


class WritesAFolder(stand_ins.StandInSerializer):
    def write(self, path, state):
        path.mkdir(parents=True, exist_ok=True)
        super().write(path / "state", state)


class NamesNoFile(stand_ins.StandInSerializer):
    def read(self, path):
        try:
            return super().read(path)
        except BadFile:
            raise BadFile("this file is bad") from None


class WritesPlainZips(stand_ins.StandInSerializer):
    """A first attempt: JSON in a zip, read without any check."""

    def write(self, path, state):
        document = json.dumps(pack(state)).encode()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(packed([("state.json", document)]))

    def read(self, path):
        try:
            with zipfile.ZipFile(path) as archive:
                return unpack(json.loads(archive.read("state.json")))
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
        (ForgetsTheByteOrder, "test_arrays_that_are_not_contiguous_come_back_as_they_look"),
        (HasNoUnsignedTypes, "test_arrays_of_every_type_and_shape_come_back_bit_for_bit"),
        (WritesNumbersOfNumpyAsText, "test_numbers_of_numpy_come_back_as_numbers"),
        (NamesArraysByTheirPath, "test_arrays_keep_their_places_whatever_the_keys_on_the_way"),
        (ReplacesAnotherSuffix, "test_a_file_is_found_by_its_name_with_and_without_the_suffix"),
        (TakesTheManifestOut, "test_writing_leaves_the_state_as_it_was"),
        (HasNoManifest, "test_the_manifest_can_be_read_by_itself"),
        (ClaimsEveryFile, "test_a_file_is_found_by_its_name_with_and_without_the_suffix"),
        (LooksInAFolderOnly, "test_a_file_is_found_by_its_name_with_and_without_the_suffix"),
        (NeverMeansTheBest, "test_a_run_folder_means_its_model_and_else_its_newest_checkpoint"),
        (EmptiesTheFileFirst, "test_a_write_that_fails_leaves_what_was_there"),
        (WritesInPlace, "test_a_full_disk_leaves_what_was_there"),
        (WritesPlainZips, "test_a_file_with_other_values_is_refused_or_read_as_a_state"),
        (WritesPlainZips, "test_a_file_in_which_a_name_is_there_twice_is_refused"),
        (LeavesAFileBeside, "test_a_state_is_one_regular_file_with_nothing_beside_it"),
        (NamesNoFile, "test_a_file_that_is_not_there_or_bad_is_refused_by_its_name"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_broken_serializer_fails(rlk_fails, factory, check):
    broken = attrs.evolve(SERIALIZER, factory=factory)
    error = "EOFError" if (factory, check) == (Pickles, "test_other_files_are_refused") else ""
    rlk_fails(testing.SerializerContract, SERIALIZER, broken, check, error)


@pytest.mark.parametrize(
    "check",
    [
        "test_a_state_is_one_regular_file_with_nothing_beside_it",
        "test_json_values_come_back_as_they_were",
        "test_a_file_that_was_cut_off_is_refused",
    ],
)
def test_a_serializer_that_writes_a_folder_fails_with_a_sentence(rlk_verdict, check):
    component = attrs.evolve(SERIALIZER, factory=WritesAFolder)
    found = rlk_verdict(
        type("Suite", (testing.SerializerContract,), {"component": component}), check
    )
    assert "it wrote a folder at" in found and "not one regular file" in found


def test_a_serializer_that_reads_newer_files_without_a_word_fails(rlk_verdict):
    class Suite(testing.SerializerContract):
        component = SERIALIZER

        def newer(self, data):
            return data

    found = rlk_verdict(Suite, "test_a_file_of_a_newer_format_is_refused")
    assert found.startswith("failed: DID NOT RAISE")
