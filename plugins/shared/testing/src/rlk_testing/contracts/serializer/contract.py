"""The contract of a serializer: states survive a round trip, and a failed write does no harm."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from rlk.errors import BadFile
from rlk_testing.contracts.serializer.refusals import SerializerRefusalChecks, reads_data_only
from rlk_testing.contracts.serializer.suite import content
from rlk_testing.contracts.shared.applies import applies
from rlk_testing.tools.faults import full_disk
from rlk_testing.tools.states import same

_DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64")
#: Types of which torch has only a few operations.
_UNSIGNED = ("uint16", "uint32", "uint64")


class SerializerContract(SerializerRefusalChecks):
    """What every serializer must do; one that can run code declares `runs_code=True`."""

    # ---- round trips -----------------------------------------------------------------------------

    def test_its_suffix_begins_with_a_dot(self) -> None:
        suffix = self.made().suffix
        assert isinstance(suffix, str) and suffix.startswith(".") and len(suffix) > 1

    def test_json_values_come_back_as_they_were(self) -> None:
        values = {
            "none": None,
            "flags": [True, False],
            "whole": [0, -1, 2**31, 2**63, 2**127 + 1],
            "numbers": [0.1, -1e300, 5e-324, 1.0],
            "text": '\u00e4\u00f6\u00fc \u2014 \u2603 \n \\ " / .',
            "nested": {"a": {"b": [{"c": 1}, []]}, "empty": {}},
            "keys with . / and spaces": {"a/b": 1, "a.b": 2, "": 3},
        }
        assert self.round_trip({"values": values})["values"] == values

    def test_numbers_keep_their_type(self) -> None:
        found = self.round_trip({"values": {"whole": 1, "real": 1.0, "flag": True}})["values"]
        assert (
            type(found["whole"]) is int
            and type(found["real"]) is float
            and type(found["flag"]) is bool
        )

    def test_numbers_of_numpy_come_back_as_numbers(self) -> None:
        values = {"whole": np.int64(3), "real": np.float32(0.5), "flag": np.bool_(True)}
        found = self.round_trip({"values": values})["values"]
        for name, value in values.items():
            assert isinstance(found[name], (bool, int, float, np.generic)), (
                f"{value!r} came back as {found[name]!r}"
            )
            assert found[name] == value

    def test_arrays_keep_their_places_whatever_the_keys_on_the_way(self) -> None:
        """A file in which arrays have names must not give two of them the same one."""
        numbers = iter(range(10))

        def one() -> torch.Tensor:
            return torch.tensor([float(next(numbers))])

        state = {
            "a": {"b": one(), "b/c": one()},
            "a/b": one(),
            "a.b": one(),
            "a/b/c": one(),
            "list": [one(), one()],
            "dict": {"0": one(), "1": one()},
        }
        found = self.round_trip({"values": state})["values"]
        assert same(found, state), f"{state} came back as {found}: make the names unique"

    def test_infinite_numbers_and_nan_come_back(self) -> None:
        found = self.round_trip({"values": [float("inf"), float("-inf"), float("nan")]})["values"]
        assert found[:2] == [float("inf"), float("-inf")] and found[2] != found[2]

    def test_arrays_of_every_type_and_shape_come_back_bit_for_bit(self) -> None:
        rng = np.random.default_rng(0)
        for dtype in (*_DTYPES, *_UNSIGNED):
            for shape in ((), (1,), (3,), (2, 0, 3), (2, 3, 4)):
                values = rng.normal(size=shape) * 50
                array = np.asarray(np.abs(values) if dtype in _UNSIGNED else values).astype(dtype)
                found = self.round_trip({"value": array})["value"]
                assert isinstance(found, np.ndarray), (
                    f"an array of {dtype}{shape} came back as {type(found)}"
                )
                assert same(found, array), f"{dtype}{shape}"

    def test_tensors_of_every_type_and_shape_come_back_bit_for_bit(self) -> None:
        for dtype in _DTYPES:
            for shape in ((), (1,), (2, 0, 3), (2, 3, 4)):
                generator = torch.Generator().manual_seed(0)
                tensor = (torch.randn(shape, generator=generator) * 50).to(getattr(torch, dtype))
                found = self.round_trip({"value": tensor})["value"]
                assert isinstance(found, torch.Tensor), (
                    f"a tensor of {dtype} came back as {type(found)}"
                )
                assert found.dtype == tensor.dtype and found.shape == tensor.shape
                assert torch.equal(found, tensor), f"{dtype}{shape}"

    def test_a_type_that_numpy_lacks_comes_back_or_is_refused(self) -> None:
        tensor = torch.arange(5.0).to(torch.bfloat16)
        try:
            data = self.written({"manifest": {}, "value": tensor})
        except Exception as error:
            assert str(error), "it refuses bfloat16 without a message"
            return
        found = self.read(data)["value"]
        assert found.dtype == torch.bfloat16 and torch.equal(found, tensor)

    def test_arrays_that_are_not_contiguous_come_back_as_they_look(self) -> None:
        whole = np.arange(24, dtype=np.float32).reshape(4, 6)
        swapped = whole.astype(whole.dtype.newbyteorder())
        for view in (whole.T, whole[::2, 1::3], whole[:, ::-1], np.asfortranarray(whole), swapped):
            assert np.array_equal(self.round_trip({"value": view})["value"], view), (
                f"an array {view.dtype.str} {view.strides} came back with other numbers: write "
                "np.ascontiguousarray(array), in the byte order that the file says"
            )
        tensor = torch.from_numpy(whole)
        for seen in (tensor.T, tensor[::2, 1::3], tensor[:1].expand(3, 6)):
            assert torch.equal(self.round_trip({"value": seen})["value"], seen)

    def test_tensors_that_share_memory_come_back_each_for_itself(self) -> None:
        flat = torch.arange(6.0)
        found = self.round_trip({"flat": flat, "part": flat[2:4], "again": flat})
        assert torch.equal(found["flat"], flat)
        found["flat"].zero_()
        assert torch.equal(found["part"], flat[2:4]) and torch.equal(found["again"], flat), (
            "tensors of a file share memory: what is written into one must not change another"
        )

    def test_the_state_of_every_random_stream_comes_back(self) -> None:
        generators = {
            name: np.random.Generator(getattr(np.random, name)(7)) for name in ("PCG64", "MT19937")
        }
        state = {name: generator.bit_generator.state for name, generator in generators.items()}
        found = self.round_trip({"numpy": state, "torch": torch.get_rng_state()})
        for name, generator in generators.items():
            twin = np.random.Generator(getattr(np.random, name)(0))
            twin.bit_generator.state = found["numpy"][name]
            assert np.array_equal(twin.random(5), generator.random(5)), name
        assert torch.equal(found["torch"], torch.get_rng_state())

    def test_what_comes_back_can_be_written_to(self) -> None:
        found = self.round_trip({"array": np.zeros(3), "tensor": torch.zeros(3)})
        found["array"][0] = 1.0
        found["tensor"][0] = 1.0

    def test_writing_leaves_the_state_as_it_was(self) -> None:
        state = {
            "manifest": {"state_version": 1},
            "a": {"t": torch.zeros(2), "n": np.ones(2)},
            "b": [1, {"c": 2}],
        }
        self.written(state)
        assert set(state) == {"manifest", "a", "b"} and state["b"] == [1, {"c": 2}]
        inner: Any = state["a"]
        assert isinstance(inner["t"], torch.Tensor) and isinstance(inner["n"], np.ndarray)

    def test_the_manifest_can_be_read_by_itself(self, tmp_path: Path) -> None:
        path, manifest = self.path(tmp_path, "model"), {"state_version": 1, "plan": {"x": [1]}}
        self.made().write(path, {"manifest": manifest, "big": np.zeros(1000)})
        assert self.made().manifest(path) == manifest

    # ---- files -----------------------------------------------------------------------------------

    def test_a_state_is_one_regular_file_with_nothing_beside_it(self, tmp_path: Path) -> None:
        path = self.path(tmp_path, "model")
        for value in (1, 2):  # the second one replaces the first
            self.made().write(path, {"manifest": {}, "value": value, "array": np.arange(5)})
            content(path)
            assert list(tmp_path.iterdir()) == [path], "it leaves other files beside it"

    def test_a_file_is_found_by_its_name_with_and_without_the_suffix(self, tmp_path: Path) -> None:
        find = self.made().find
        for name in ("cartpole", "cartpole-0.5"):
            path = self.path(tmp_path, name)
            self.made().write(path, {"manifest": {}})
            assert find(path) == find(tmp_path / name) == path, (
                f"it does not find {path.name} by {name}: append the suffix to the name, which may "
                "have dots of its own"
            )
        (tmp_path / "cartpole").mkdir()
        path = self.path(tmp_path, "cartpole")
        assert find(tmp_path / "cartpole") == path, f"a folder without a model hides {path.name}"
        assert find(tmp_path / "other") is None
        foreign = tmp_path / "foreign.txt"
        foreign.write_text("")
        assert find(foreign) is None, "it claims a file of another suffix"

    def test_a_run_folder_means_its_model_and_else_its_newest_checkpoint(
        self, tmp_path: Path
    ) -> None:
        find = self.made().find
        assert find(tmp_path) is None
        for name in ("checkpoints/900", "checkpoints/1000", "model"):
            path = self.path(tmp_path, name)
            self.made().write(path, {"manifest": {}})
            assert find(tmp_path) == find(tmp_path, best=True) == path, name
        best = self.path(tmp_path, "best_model")
        self.made().write(best, {"manifest": {}})
        assert (find(tmp_path), find(tmp_path, best=True)) == (path, best)

    @applies(reads_data_only)
    def test_a_write_that_fails_leaves_what_was_there(self, tmp_path: Path) -> None:
        path = self.path(tmp_path, "model")
        self.made().write(path, {"manifest": {}, "value": np.arange(5)})
        before = content(path)
        with pytest.raises(Exception, match=r"(?s).+"):
            self.made().write(path, {"manifest": {}, "big": np.arange(5), "value": object()})
        assert path.read_bytes() == before
        assert list(tmp_path.iterdir()) == [path]

    def test_a_full_disk_leaves_what_was_there(self, tmp_path: Path) -> None:
        path = self.path(tmp_path, "model")
        self.made().write(path, {"manifest": {}, "value": np.arange(5)})
        before = content(path)
        with full_disk(), pytest.raises(OSError):
            self.made().write(path, {"manifest": {}, "value": np.arange(5000)})
        assert path.read_bytes() == before
        assert list(tmp_path.iterdir()) == [path], "something half written is left"

    @applies(reads_data_only)
    def test_a_file_that_is_not_there_or_bad_is_refused_by_its_name(self, tmp_path: Path) -> None:
        missing, broken = self.path(tmp_path, "missing"), self.path(tmp_path, "broken")
        broken.write_bytes(b"hello")
        for read in (self.made().read, self.made().manifest):
            for path in (missing, broken):
                with pytest.raises(BadFile, match=re.escape(path.name)):
                    read(path)
