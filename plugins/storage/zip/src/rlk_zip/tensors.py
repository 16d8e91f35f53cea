"""Tensors as safetensors, streamed one at a time, straight from and into their memory.

The format is 8 bytes, the length of a header; a JSON header of dtype, shape and place by name; and
the bytes, little-endian and in C order. The library `safetensors` writes and reads it too (the
tests compare with it), but only whole files in memory, which for a replay memory means several
copies.
"""

from __future__ import annotations

import json
import math
import struct
import sys
from collections.abc import Mapping
from typing import IO, Any, Literal

import numpy as np

#: What a tensor was when it was written, and will be when it is read.
Kind = Literal["array", "scalar", "tensor"]

#: dtype, as numpy and torch both call it -> its name in the format, and bytes.
_DTYPES: dict[str, tuple[str, int]] = {
    "bool": ("BOOL", 1),
    "uint8": ("U8", 1),
    "int8": ("I8", 1),
    "uint16": ("U16", 2),
    "int16": ("I16", 2),
    "uint32": ("U32", 4),
    "int32": ("I32", 4),
    "uint64": ("U64", 8),
    "int64": ("I64", 8),
    "float16": ("F16", 2),
    "float32": ("F32", 4),
    "float64": ("F64", 8),
    "complex64": ("C64", 8),
}
#: Those that only torch has.
_TORCH_DTYPES: dict[str, tuple[str, int]] = {
    "bfloat16": ("BF16", 2),
    "float8_e4m3fn": ("F8_E4M3", 1),
    "float8_e5m2": ("F8_E5M2", 1),
}
_NAMES = {code: (name, size) for name, (code, size) in {**_DTYPES, **_TORCH_DTYPES}.items()}
_HEADER_BYTES = 100_000_000
_CHUNK_BYTES = 4 << 20


def is_tensor(value: object) -> bool:
    """Whether it is a torch tensor; torch is not imported to find out."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def refusal(value: Any) -> str | None:
    """Why this array, numpy scalar or tensor cannot be stored; None if it can."""
    if is_tensor(value):
        if value.layout != sys.modules["torch"].strided or value.is_meta or value.is_quantized:
            return "is a sparse, quantised or meta tensor; make it a dense one"
        known = _dtype_name(value) in {**_DTYPES, **_TORCH_DTYPES}
        return None if known else f"is a tensor of {value.dtype}, which safetensors does not have"
    if value.dtype.names is not None:
        return f"is a structured array ({value.dtype}); store a view of it as uint8"
    if isinstance(value, np.ma.MaskedArray):
        return "is a masked array; store its data and its mask"
    if _dtype_name(value) not in _DTYPES:
        return f"is of the numpy dtype {value.dtype}, which safetensors does not have"
    return None


class Writing:
    """Tensors about to be written: their order and the header are known before the first byte."""

    def __init__(self, tensors: Mapping[str, Any]) -> None:
        # Wide dtypes first, then by name: aligned, and the same bytes for the same tensors.
        names = sorted(tensors, key=lambda name: (-_dtype(tensors[name])[1], name))
        self._tensors = [tensors[name] for name in names]
        entries, end = {}, 0
        for name, tensor in zip(names, self._tensors, strict=True):
            code, item = _dtype(tensor)
            begin, end = end, end + item * math.prod(tensor.shape)
            shape = list(tensor.shape)
            entries[name] = {"dtype": code, "shape": shape, "data_offsets": [begin, end]}
        header = json.dumps(entries, separators=(",", ":")).encode()
        header += b" " * (-len(header) % 8)
        self._head = struct.pack("<Q", len(header)) + header
        self.size = len(self._head) + end

    def write(self, file: IO[bytes]) -> None:
        """Write all `size` bytes; what is not contiguous, or not on the CPU, is copied for it."""
        file.write(self._head)
        for tensor in self._tensors:
            if math.prod(tensor.shape):
                file.write(_as_bytes(tensor).data)


def read(file: IO[bytes], size: int, kinds: Mapping[str, Kind]) -> dict[str, Any]:
    """Everything in a file of that many bytes, each as the kind that it was.

    Raises:
        ValueError: it is not what `Writing` writes, or does not hold exactly these names.
    """
    (length,) = struct.unpack("<Q", _exactly(file, 8))
    if length > min(size - 8, _HEADER_BYTES):
        raise ValueError(f"the header of the tensors claims {length} bytes")
    entries = _entries(json.loads(_exactly(file, length)))
    if entries.keys() != kinds.keys():
        raise ValueError(f"the tensors do not match: {sorted(entries.keys() ^ kinds.keys())[:5]}")
    room, at, found = size - 8 - length, 0, {}
    for name, (dtype, shape, begin, end) in sorted(entries.items(), key=lambda each: each[1][2:]):
        if begin != at or end > room:
            raise ValueError(f"tensor {name!r} does not lie behind the one before it")
        if kinds[name] != "tensor" and dtype not in _DTYPES:
            raise ValueError(f"tensor {name!r} has a dtype that only torch has")
        found[name], at = _read_one(file, dtype, shape, kinds[name]), end
    if at != room or file.read(1):
        raise ValueError("bytes are left behind the last tensor")
    return found


def _entries(header: Any) -> dict[str, tuple[str, tuple[int, ...], int, int]]:
    """Name -> dtype, shape, begin and end, from a header of which nothing is taken for granted."""
    if not isinstance(header, dict):
        raise ValueError("the header of the tensors is not an object")
    entries = {}
    for name, entry in header.items():
        match entry:
            case {"dtype": str(code), "shape": [*shape], "data_offsets": [int(begin), int(end)]}:
                dtype, item = _NAMES.get(code, ("", 0))
                sizes = all(type(n) is int and n >= 0 for n in shape)
                if dtype and sizes and begin >= 0 and end - begin == item * math.prod(shape):
                    entries[name] = dtype, tuple(shape), begin, end
                    continue
        if name != "__metadata__":
            raise ValueError(f"tensor {name!r} has an entry that makes no sense")
    return entries


def _read_one(file: IO[bytes], dtype: str, shape: tuple[int, ...], kind: Kind) -> Any:
    if kind == "tensor":
        import torch

        tensor = torch.empty(shape, dtype=getattr(torch, dtype))
        if tensor.numel():
            _fill(file, tensor.reshape(-1).view(torch.uint8).numpy())
        return tensor
    array = np.empty(shape, np.dtype(dtype).newbyteorder("<"))
    if array.size:
        _fill(file, array.reshape(-1).view(np.uint8))
    array = array.astype(dtype, copy=False)
    return array[()] if kind == "scalar" else array


def _fill(file: IO[bytes], target: np.ndarray[Any, np.dtype[Any]]) -> None:
    view = target.data
    for begin in range(0, len(view), _CHUNK_BYTES):
        part = view[begin : begin + _CHUNK_BYTES]
        part[:] = _exactly(file, len(part))


def _exactly(file: IO[bytes], n: int) -> bytes:
    data = file.read(n)
    if len(data) != n:
        raise ValueError("the file ends within a tensor")
    return data


def _as_bytes(tensor: Any) -> np.ndarray[Any, np.dtype[Any]]:
    """uint8 [bytes], a view where that is possible."""
    if is_tensor(tensor):
        uint8 = sys.modules["torch"].uint8
        dense = tensor.detach().resolve_conj().resolve_neg().cpu().contiguous()
        found: np.ndarray[Any, np.dtype[Any]] = dense.reshape(-1).view(uint8).numpy()
        return found
    little = tensor.dtype.newbyteorder("<")
    return np.ascontiguousarray(tensor, dtype=little).reshape(-1).view(np.uint8)


def _dtype_name(value: Any) -> str:
    return str(value.dtype).removeprefix("torch.") if is_tensor(value) else str(value.dtype.name)


def _dtype(value: Any) -> tuple[str, int]:
    name = _dtype_name(value)
    return _DTYPES[name] if name in _DTYPES else _TORCH_DTYPES[name]
