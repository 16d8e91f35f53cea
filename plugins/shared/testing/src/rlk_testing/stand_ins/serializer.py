"""The smallest serializer: JSON in one compressed file."""

from __future__ import annotations

import base64
import io
import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rlk.errors import BadFile
from rlk.files import replacing
from rlk.protocols import State


class StandInSerializer:
    """JSON, with arrays and tensors in base64, compressed by zlib, which adds a checksum."""

    suffix = ".standin"

    def find(self, path: Path, best: bool = False) -> Path | None:
        names = [*["best_model"] * best, "model", *_newest_first(path / "checkpoints")]
        files = [path, Path(f"{path}{self.suffix}")]
        files += [path / f"{name}{self.suffix}" for name in names]
        return next((f for f in files if f.is_file() and f.name.endswith(self.suffix)), None)

    def write(self, path: Path, state: State) -> None:
        content = zlib.compress(json.dumps(pack(state)).encode())
        with replacing(path) as file:
            file.write(content)

    def read(self, path: Path) -> State:
        try:
            state: State = unpack(json.loads(zlib.decompress(path.read_bytes())))
        except (OSError, zlib.error, ValueError, KeyError, TypeError) as error:
            raise BadFile(f"{path} is not a stand-in file: {error}") from None
        return state

    def manifest(self, path: Path) -> State:
        return self.read(path)["manifest"]


def _newest_first(folder: Path) -> list[str]:
    found = [file.name.partition(".")[0] for file in folder.glob("*")]
    numbers = sorted((int(name) for name in found if name.isdecimal()), reverse=True)
    return [f"checkpoints/{number}" for number in numbers]


def pack(value: Any) -> Any:
    """What JSON can hold, of a state with arrays and tensors."""
    if isinstance(value, Mapping):
        return {"dict": {key: pack(part) for key, part in value.items()}}
    if isinstance(value, (list, tuple)):
        return [pack(part) for part in value]
    if isinstance(value, Tensor):
        dtype = str(value.dtype).removeprefix("torch.")
        raw = value.detach().contiguous().reshape(-1).view(torch.uint8).numpy()
        return {"tensor": [dtype, list(value.shape), base64.b64encode(raw.tobytes()).decode()]}
    if isinstance(value, np.ndarray):
        written = io.BytesIO()
        np.save(written, value, allow_pickle=False)
        return {"array": base64.b64encode(written.getvalue()).decode()}
    return value.item() if isinstance(value, np.generic) else value


def unpack(value: Any) -> Any:
    """The state of which `pack` made this."""
    if isinstance(value, list):
        return [unpack(part) for part in value]
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "dict":
        return {key: unpack(part) for key, part in content.items()}
    if kind == "array":
        return np.load(io.BytesIO(base64.b64decode(content)), allow_pickle=False)
    dtype, shape, text = content
    raw = torch.tensor(list(base64.b64decode(text)), dtype=torch.uint8)
    return raw.view(getattr(torch, dtype)).reshape(shape)
