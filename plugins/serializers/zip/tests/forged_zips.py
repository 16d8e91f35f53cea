"""Zips with forged members, and the expected results of reading them."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from typing import Any

import numpy as np
import pytest
import torch
from zip_states import written

from rlk.errors import BadFile
from rlk_zip.serializer import ZipSerializer

STATE = {
    "manifest": {"algo": "dqn"},
    "counters": {"timesteps": 1000, "loss": float("nan")},
    "weights": [np.arange(6, dtype=np.float32).reshape(2, 3), torch.ones(4, dtype=torch.bfloat16)],
}


def rebuilt(
    changes: dict[str, bytes | None],
    compress: int = zipfile.ZIP_STORED,
    state: dict[str, Any] = STATE,
) -> bytes:
    """The bytes of a written state, with members replaced, added, or (None) left out."""
    with zipfile.ZipFile(io.BytesIO(written(state))) as old:
        members: dict[str, Any] = {name: old.read(name) for name in old.namelist()}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compress) as new:
        for name, data in {**members, **changes}.items():
            if data is not None:
                new.writestr(name, data)
    return out.getvalue()


def tensors_member(header: Any, data: bytes = b"", length: int | None = None) -> bytes:
    """A member `tensors.safetensors` of that header, which says that it has `length` bytes."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def refused(data: bytes, match: str) -> None:
    """Checks that a file of these bytes is refused with that message."""
    with pytest.raises(BadFile, match=match):
        ZipSerializer().read_from(io.BytesIO(data))


class Sneaky:
    """Unpickling it would leave a trace."""

    opened = False

    def __reduce__(self) -> Any:
        return (setattr, (Sneaky, "opened", True))
