"""What is written to a zip comes back equal, in value, type and order."""

from __future__ import annotations

import errno
import io
import json
import math
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load, save

from rlk.component import Component
from rlk.errors import BadFile, RlkError
from rlk_zip import mapped, tensors
from rlk_zip.component import component
from rlk_zip.serializer import ZipSerializer

NUMPY_DTYPES = [
    *("bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"),
    *("float16", "float32", "float64", "complex64"),
]
TORCH_DTYPES = [*NUMPY_DTYPES, "bfloat16", "float8_e4m3fn", "float8_e5m2"]


def written(state: dict[str, Any]) -> bytes:
    file = io.BytesIO()
    ZipSerializer().write_to(file, state)
    return file.getvalue()


def there_and_back(state: dict[str, Any]) -> dict[str, Any]:
    return ZipSerializer().read_from(io.BytesIO(written(state)))


def assert_same(found: Any, expected: Any) -> None:
    """Equal in value and type; a NaN equals itself, dicts have the same order."""
    assert type(found) is type(expected)
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        for key in expected:
            assert_same(found[key], expected[key])
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    elif isinstance(expected, torch.Tensor):
        assert found.dtype == expected.dtype and found.shape == expected.shape
        assert bytes_of(found) == bytes_of(expected)
    elif isinstance(expected, np.ndarray | np.generic):
        assert found.dtype == expected.dtype and found.shape == expected.shape
        assert found.tobytes() == expected.tobytes()
    elif isinstance(expected, float):
        assert math.isnan(found) if math.isnan(expected) else repr(found) == repr(expected)
    else:
        assert found == expected


def bytes_of(tensor: torch.Tensor) -> bytes:
    flat = tensor.contiguous().reshape(-1)
    return flat.view(torch.uint8).numpy().tobytes() if len(flat) else b""


def test_every_json_value_comes_back() -> None:
    state = {
        "none": None,
        "true": True,
        "false": False,
        "zero": 0,
        "huge": 2**127 + 1,
        "negative": -(2**200),
        "float": 0.1 + 0.2,
        "minus zero": -0.0,
        "tiny": 5e-324,
        "whole": 3.0,
        "nan": math.nan,
        "inf": [math.inf, -math.inf],
        "text": 'Ünï "cödé" \n \x00 \ud800 🤖',
        "": "an empty key",
        "list": [1, [2, [3, []]], {}],
        "dict": {"b": 1, "a": {"z": None, "y": 2}},
    }
    assert_same(there_and_back(state), state)


def test_keys_that_look_like_ours_are_no_trap() -> None:
    state = {
        "$array": "x",
        "one": {"$float": "nan"},
        "two": {"$dict": {"$dict": {}}},
        "three": {"$tensor": "one", "and": np.arange(3)},
        "four": {"$": [math.nan]},
    }
    assert_same(there_and_back(state), state)


def test_a_tuple_comes_back_as_a_list() -> None:
    assert there_and_back({"a": (1, (2, 3))}) == {"a": [1, [2, 3]]}


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
@pytest.mark.parametrize("shape", [(), (1,), (0,), (3, 0, 2), (2, 3, 4)])
def test_numpy_arrays_of_every_dtype_and_shape_come_back(dtype: str, shape: Any) -> None:
    values = np.random.default_rng(0).integers(0, 2, shape) * 3
    array = np.asarray(values).astype(dtype)
    assert_same(there_and_back({"x": array}), {"x": array})


@pytest.mark.parametrize("dtype", TORCH_DTYPES)
@pytest.mark.parametrize("shape", [(), (1,), (0,), (3, 0, 2), (2, 3, 4)])
def test_torch_tensors_of_every_dtype_and_shape_come_back(dtype: str, shape: Any) -> None:
    tensor = (torch.arange(math.prod(shape)) % 3).reshape(shape).to(getattr(torch, dtype))
    assert_same(there_and_back({"x": tensor}), {"x": tensor})


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
def test_numpy_scalars_come_back_as_scalars_of_their_dtype(dtype: str) -> None:
    scalar = np.dtype(dtype).type(1)
    assert_same(there_and_back({"x": scalar}), {"x": scalar})


def test_arrays_that_are_not_contiguous_come_back_right() -> None:
    grid = np.arange(24.0).reshape(2, 3, 4)
    state = {
        "transposed": grid.T,
        "strided": grid[:, ::2, 1:3],
        "reversed": grid[::-1],
        "broadcast": np.broadcast_to(np.arange(3), (2, 3)),
        "fortran": np.asfortranarray(grid[0]),
        "torch transposed": torch.from_numpy(grid).transpose(0, 2),
        "torch expanded": torch.arange(3).expand(2, 3),
        "conjugated": torch.tensor([1 + 2j], dtype=torch.complex64).conj(),
    }
    found = there_and_back(state)
    for name, expected in state.items():
        assert type(found[name]) is type(expected)
        plain = expected.resolve_conj() if name == "conjugated" else expected
        np.testing.assert_array_equal(np.asarray(found[name]), np.asarray(plain))


def test_big_endian_arrays_keep_their_values() -> None:
    array = np.arange(5, dtype=">i4")
    found = there_and_back({"x": array})["x"]
    assert found.tolist() == [0, 1, 2, 3, 4]
    assert found.dtype == np.int32


def test_parameters_come_back_as_plain_tensors_that_can_be_written_to() -> None:
    parameter = torch.nn.Parameter(torch.ones(3))
    found = there_and_back({"p": parameter, "a": np.ones(2)})
    assert type(found["p"]) is torch.Tensor and not found["p"].requires_grad
    found["p"] += 1
    found["a"] += 1
    assert found["p"].tolist() == [2.0, 2.0, 2.0] and found["a"].tolist() == [2.0, 2.0]


def test_a_nan_keeps_its_bits_in_an_array() -> None:
    odd = np.array([0x7FC00001, 0xFF800000], np.uint32).view(np.float32)
    assert there_and_back({"x": odd})["x"].tobytes() == odd.tobytes()


def test_names_of_tensors_never_collide() -> None:
    state = {
        "a/b": np.array([1]),
        "a": {"b": np.array([2])},
        "a'": np.array([5]),
        "a/b'": np.array([3]),
        "__metadata__": np.array([4]),
        "": np.array([6]),
        "state": np.array([7]),
    }
    assert_same(there_and_back(state), state)


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


STATES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.integers(0, 5).map(np.arange)
    | st.floats(width=32).map(np.float32)
    | st.integers(0, 5).map(lambda n: torch.ones(n, dtype=torch.bfloat16)),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=4) | st.just("$array"), inner, max_size=4)
    ),
    max_leaves=25,
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.text(max_size=4), STATES, max_size=5))
def test_whatever_is_nested_comes_back(state: dict[str, Any]) -> None:
    assert_same(there_and_back(state), state)


def test_the_manifest_can_be_read_alone_and_keeps_its_place() -> None:
    state = {"a": 1, "manifest": {"z": {"seed": 3}, "$x": math.nan, "a": [1]}, "b": np.ones(2)}
    data = written(state)
    assert_same(ZipSerializer().read_from(io.BytesIO(data)), state)
    assert_same(ZipSerializer().manifest_from(io.BytesIO(data)), state["manifest"])


def test_a_state_without_a_manifest_has_none_afterwards() -> None:
    assert there_and_back({"a": 1}) == {"a": 1}
    assert ZipSerializer().manifest_from(io.BytesIO(written({"a": 1}))) == {}


def test_the_manifest_is_read_without_touching_the_tensors() -> None:
    data = bytearray(written({"manifest": {"algo": "dqn"}, "x": np.full(1000, 7, np.uint8)}))
    at = data.index(bytes([7] * 1000))
    data[at + 500] = 8
    assert ZipSerializer().manifest_from(io.BytesIO(data)) == {"algo": "dqn"}


def test_the_same_state_gives_the_same_bytes() -> None:
    def state(first: bool) -> dict[str, Any]:
        tensors = {"u": np.ones(3, np.uint8), "f": torch.ones(2), "d": np.ones(2)}
        return {"manifest": {"a": 1}, **tensors, "made": list(range(3)) if first else [0, 1, 2]}

    assert written(state(True)) == written(state(False))


def test_members_have_the_names_and_compression_that_are_documented() -> None:
    state = {"manifest": {"algo": "dqn"}, "agent": {"pi": [np.ones(2, np.float32)]}}
    with zipfile.ZipFile(io.BytesIO(written(state))) as archive:
        infos = archive.infolist()
        names = [info.filename for info in infos]
        assert names == ["manifest.json", "state.json", "tensors.safetensors"]
        assert infos[2].compress_type == zipfile.ZIP_STORED
        assert infos[0].compress_type == infos[1].compress_type == zipfile.ZIP_DEFLATED
        assert archive.read("manifest.json") == b'{"format":"rlk","format_version":1,"algo":"dqn"}'
        structure = b'{"manifest":{},"agent":{"pi":[{"$array":"agent/pi/0"}]}}'
        assert archive.read("state.json") == structure


def test_tensors_lie_widest_first_and_then_by_name_whatever_order_they_came_in() -> None:
    names = {"b": np.uint8, "z": np.float64, "c": np.float32, "a": np.uint8, "d": np.float32}
    data = written({name: np.ones(3, dtype) for name, dtype in names.items()})
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        content = archive.read("tensors.safetensors")
    length = int.from_bytes(content[:8], "little")
    assert list(json.loads(content[8 : 8 + length])) == ["z", "c", "d", "a", "b"]
    assert length % 8 == 0


def test_tensors_too_large_for_sizes_of_32_bits_are_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 5000)  # as if 5 kB were 2 GiB
    state = {"x": np.arange(2000)}
    assert_same(there_and_back(state), state)


def test_a_file_without_seek_can_be_written_to() -> None:
    class Pipe(io.RawIOBase):
        data = b""

        def writable(self) -> bool:
            return True

        def write(self, part: Any) -> int:
            self.data += bytes(part)
            return len(part)

    pipe, state = Pipe(), {"x": np.arange(1000)}
    ZipSerializer().write_to(pipe, state)  # type: ignore[arg-type]
    assert_same(ZipSerializer().read_from(io.BytesIO(pipe.data)), state)


def test_tensors_are_what_the_safetensors_library_reads() -> None:
    state = {
        name: (torch.arange(6) % 2).reshape(2, 3).to(getattr(torch, name)) for name in TORCH_DTYPES
    }
    state["numpy"] = np.arange(12, dtype=np.int16).reshape(3, 4).T  # type: ignore[assignment]
    state["empty"] = torch.zeros(0, 3)
    state["scalar"] = torch.tensor(2.5)
    state["__metadata__"] = torch.ones(2)  # a name that the format keeps for itself
    with zipfile.ZipFile(io.BytesIO(written(state))) as archive:
        read = load(archive.read("tensors.safetensors"))
    state["__metadata__'"] = state.pop("__metadata__")
    assert read.keys() == state.keys()
    for name, expected in state.items():
        assert_same(read[name], torch.as_tensor(expected).contiguous())


def test_tensors_that_the_safetensors_library_wrote_are_read() -> None:
    state = {name: torch.arange(6).to(getattr(torch, name)) for name in TORCH_DTYPES}
    body, out = io.BytesIO(written(state)), io.BytesIO()
    with zipfile.ZipFile(body) as old, zipfile.ZipFile(out, "w") as new:
        for name in ("manifest.json", "state.json"):
            new.writestr(name, old.read(name))
        new.writestr("tensors.safetensors", save(state, {"made": "elsewhere"}))
    assert_same(ZipSerializer().read_from(out), state)


def test_neither_writing_nor_reading_numpy_imports_torch() -> None:
    code = (
        "import io, sys, numpy as np\n"
        "from rlk_zip.component import component\n"
        "file = io.BytesIO(); zip = component.load()()\n"
        "zip.write_to(file, {'x': np.ones(3)}); assert zip.read_from(file)['x'].sum() == 3\n"
        "assert 'torch' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_component_names_what_it_is() -> None:
    assert isinstance(component, Component)
    assert component.name == "zip"
    assert component.load() is ZipSerializer
    assert ZipSerializer.suffix == ".zip"
