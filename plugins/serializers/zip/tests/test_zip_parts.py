"""Arrays larger than a part, and than memory: cut, joined, refused where a part is missing."""

from __future__ import annotations

import errno
import io
import json
import pickle
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from forged_zips import Sneaky, rebuilt, refused, tensors_member
from zip_states import assert_same, there_and_back, written

from rlk.errors import BadFile, RlkError
from rlk_zip import mapped, tensors
from rlk_zip.serializer import ZipSerializer


@pytest.mark.parametrize("part_bytes", [1, 100, 4000])
def test_what_is_larger_than_a_part_is_cut_and_comes_back(
    monkeypatch: pytest.MonkeyPatch, part_bytes: int
) -> None:
    monkeypatch.setattr(tensors, "PART_BYTES", part_bytes)
    rng = np.random.default_rng(1)
    array = rng.integers(0, 256, (30, 7, 5), dtype=np.uint8)
    state = {
        "array": array,
        "tensor": torch.from_numpy(array).transpose(0, 1)[::3],
        "coarse": torch.arange(300).to(torch.bfloat16),
        "wide": np.arange(100.0)[None],
        "complex": np.arange(90).astype(np.complex64),
        "scalar": np.float32(3.0),
        "single": np.array(4),
        "none": np.ones((0, 4)),
    }
    assert_same(there_and_back(state), state)
    numpy_only = {"array": array, "flags": array > 100, "transposed": array.T}
    assert_same(there_and_back(numpy_only), numpy_only)


def test_every_part_is_a_file_of_safetensors_and_none_is_larger_than_it_may_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from safetensors.numpy import load as load_numpy

    monkeypatch.setattr(tensors, "PART_BYTES", 1000)
    state = {"big": np.arange(300, dtype=np.int64), "a": np.ones(50, np.uint8), "b": np.zeros(900)}
    with zipfile.ZipFile(io.BytesIO(written(state))) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        names = [name for name in archive.namelist() if name.startswith("tensors")]
        found = [load_numpy(archive.read(name)) for name in names]
    assert manifest["format_parts"] == len(names) > 8
    assert names[:2] == ["tensors.safetensors", "tensors-1.safetensors"]
    assert all(sum(array.nbytes for array in part.values()) <= 1000 for part in found)
    for name, whole in state.items():
        joined = np.concatenate([part[name] for part in found if name in part])
        assert_same(joined, whole)


LIMITED = """
import re, resource, sys, tempfile
from pathlib import Path
import numpy as np
from rlk.errors import BadFile, RlkError
from rlk_zip import mapped, tensors
from rlk_zip.serializer import ZipSerializer
import safetensors.numpy

MIB = 1 << 20
tensors.PART_BYTES = 4 * MIB  # all as if memory were sixteen times as large
with tempfile.TemporaryFile() as file:
    array = np.memmap(file, np.uint8, "w+", shape=(64, MIB))
array[63, 5] = 1
if sys.argv[1] == "torch":
    import safetensors.torch, torch
    array = torch.from_numpy(array)
used = int(re.search(r"VmData:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024
resource.setrlimit(resource.RLIMIT_DATA, (used + 40 * MIB, -1))
try:
    np.ones(64 * MIB, np.uint8)
except MemoryError:
    path = Path("large.zip")
    ZipSerializer().write(path, {"x": array})
    del array
    found = ZipSerializer().read(path)["x"]
    print(type(found).__name__, tuple(found.shape), int(found[63, 5]), int(found[62, 5]))
    found[:2] = 7
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="there is no /proc")
@pytest.mark.parametrize(("kind", "name"), [("numpy", "ndarray"), ("torch", "Tensor")])
def test_what_is_larger_than_memory_is_written_and_read(
    kind: str, name: str, rlk_forks: Any, tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text(LIMITED)
    with rlk_forks.start(program, kind, cwd=tmp_path) as running:
        printed, _ = running.communicate()
    assert running.returncode == 0, printed
    assert printed == f"{name} (64, 1048576) 1 0\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["large.zip", "program.py"]


def test_a_disk_without_room_for_a_large_array_is_no_damage(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Full(io.BytesIO):
        def write(self, data: Any) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tensors, "PART_BYTES", 100)
    ZipSerializer().write(tmp_path / "large.zip", {"x": np.ones((100, 3))})
    monkeypatch.setattr(mapped.tempfile, "TemporaryFile", lambda dir=None: Full())
    with pytest.raises(RlkError, match=rf"{tmp_path}, which has no room.*No space left") as told:
        ZipSerializer().read(tmp_path / "large.zip")
    assert not isinstance(told.value, BadFile)
    data = io.BytesIO((tmp_path / "large.zip").read_bytes())
    with pytest.raises(RlkError, match=rf"{tempfile.gettempdir()}, which has no room"):
        ZipSerializer().read_from(data)


def test_a_folder_that_one_may_only_read_is_no_hindrance(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made = tempfile.TemporaryFile

    def refusing(dir: Any = None) -> Any:
        if dir is not None:
            raise PermissionError(errno.EACCES, "Permission denied")
        return made()

    monkeypatch.setattr(tensors, "PART_BYTES", 100)
    monkeypatch.setattr(mapped.tempfile, "TemporaryFile", refusing)
    state = {"x": np.arange(300.0)}
    path = tmp_path / "large.zip"
    ZipSerializer().write(path, state)
    assert_same(ZipSerializer().read(path), state)


def test_a_large_array_is_put_together_on_the_disk_that_has_its_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made, folders = tempfile.TemporaryFile, []

    def noting(dir: Any = None) -> Any:
        folders.append(dir)
        return made(dir=dir)

    monkeypatch.setattr(tensors, "PART_BYTES", 100)
    monkeypatch.setattr(mapped.tempfile, "TemporaryFile", noting)
    state = {"x": np.arange(300.0)}
    ZipSerializer().write(tmp_path / "large.zip", state)
    monkeypatch.chdir(tmp_path)
    for path in (tmp_path / "large.zip", Path("large.zip")):
        assert_same(ZipSerializer().read(path), state)
    assert folders == [str(tmp_path)] * 2


def in_parts(monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any]) -> bytes:
    """A file with `x`, int16 [1000], in three parts, and members changed or (None) left out."""
    monkeypatch.setattr(tensors, "PART_BYTES", 800)
    return rebuilt(changes, state={"x": np.arange(1000, dtype=np.int16)})


def part(name: str, dtype: str, shape: list[int]) -> bytes:
    size = 2 * int(np.prod(shape))
    header = {name: {"dtype": dtype, "shape": shape, "data_offsets": [0, size]}}
    return tensors_member(header, bytes(size))


def head(count: str) -> bytes:
    return f'{{"format":"rlk","format_version":1,"format_parts":{count}}}'.encode()


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"tensors-1.safetensors": None}, "has no tensors-1.safetensors"),
        ({"tensors-2.safetensors": None}, "has no tensors-2.safetensors"),
        ({"tensors-1.safetensors": part("y", "I16", [4])}, "the tensors do not match: ..y"),
        ({"tensors-1.safetensors": part("x", "U16", [4])}, "do not belong together"),
        ({"tensors-1.safetensors": part("x", "I16", [4, 1])}, "do not belong together"),
        ({"tensors.safetensors": part("x", "I16", [])}, "do not belong together"),
        ({"tensors-1.safetensors": b""}, "damaged"),
        ({"tensors-2.safetensors": pickle.dumps(Sneaky())}, "damaged"),
        ({"manifest.json": head("0")}, "in how many parts"),
        ({"manifest.json": head("true")}, "in how many parts"),
        ({"manifest.json": head("4")}, "has no tensors-3.safetensors"),
        ({"manifest.json": head(str(10**12))}, "has no tensors-3.safetensors"),
    ],
)
def test_parts_that_are_missing_or_do_not_belong_together_are_refused(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], match: str
) -> None:
    refused(in_parts(monkeypatch, changes), match)
    assert not Sneaky.opened


def test_the_parts_as_they_are_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    data = in_parts(monkeypatch, {})
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = archive.namelist()
    assert names[2:] == [f"tensors{part}.safetensors" for part in ("", "-1", "-2")]
    found = ZipSerializer().read_from(io.BytesIO(data))
    np.testing.assert_array_equal(found["x"], np.arange(1000, dtype=np.int16))
    found["x"] += 1  # as any other array
    assert found["x"][0] == 1


def test_two_parts_are_written_and_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensors, "PART_BYTES", 100)
    state = {"x": np.arange(200, dtype=np.uint8)}
    assert len(tensors.parts(state)) == 2
    assert_same(there_and_back(state), state)


def test_a_part_holds_64_mebibytes() -> None:
    seen = np.broadcast_to(np.uint8(0), (65 << 20,))  # without its memory
    assert [len(part["x"]) for part in tensors.parts({"x": seen})] == [64 << 20, 1 << 20]


def test_parts_are_filled_in_the_order_of_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensors, "PART_BYTES", 1000)
    found = {name: np.zeros(400, np.uint8) for name in "fedcba"}
    assert [[*part] for part in tensors.parts(found)] == [["a", "b"], ["c", "d"], ["e", "f"]]


def test_no_part_is_empty_where_one_row_is_larger_than_a_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tensors, "PART_BYTES", 100)
    assert [len(part["a"]) for part in tensors.parts({"a": np.zeros((3, 200), np.uint8)})] == [
        1
    ] * 3
