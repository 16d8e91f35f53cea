"""How a zip is laid out, what of it can be read alone, and that safetensors reads it too."""

from __future__ import annotations

import io
import json
import math
import subprocess
import sys
import zipfile
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load, save
from zip_states import TORCH_DTYPES, assert_same, there_and_back, written

from rlk.component import Component
from rlk_zip.component import component
from rlk_zip.serializer import ZipSerializer


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
        assert {info.date_time for info in infos} == {(1980, 1, 1, 0, 0, 0)}
        assert {info.external_attr >> 16 for info in infos} == {0o644}
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
