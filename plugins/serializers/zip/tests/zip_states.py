"""States that are written to a zip in memory, read again, and compared."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np
import torch

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
