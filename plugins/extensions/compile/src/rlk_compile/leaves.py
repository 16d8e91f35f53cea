"""The tensors of a batch: where they are, and a fast way to read them at every update."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any

import torch
from torch import Tensor

#: The name of a field of the batch and, if the field is a mapping, a key.
Path = tuple[str, ...]
#: What a compiled graph assumes about one tensor.
Kind = tuple[torch.Size, tuple[int, ...], torch.dtype, torch.device]


def leaves(batch: Any) -> dict[Path, Tensor]:
    """The tensors in the fields of a batch, and in fields that are mappings.

    Tensors that are nested deeper, or in a batch that is not a dataclass, are not found.
    """
    found: dict[Path, Tensor] = {}
    if not dataclasses.is_dataclass(batch):
        return found
    for field in dataclasses.fields(batch):
        value = getattr(batch, field.name)
        parts = value.items() if isinstance(value, Mapping) else [(None, value)]
        for key, part in parts:
            if isinstance(part, Tensor):
                found[(field.name,) if key is None else (field.name, key)] = part
    return found


def reader(paths: list[Path]) -> Callable[[Any], tuple[Tensor, ...]]:
    """A function that reads these tensors from a batch: one call if all are plain fields."""
    if len(paths) > 1 and all(len(path) == 1 for path in paths):
        return attrgetter(*[path[0] for path in paths])

    def read(batch: Any) -> tuple[Tensor, ...]:
        return tuple([_at(batch, path) for path in paths])

    return read


def _at(batch: Any, path: Path) -> Any:
    value = getattr(batch, path[0])
    return value if len(path) == 1 else value[path[1]]


def kind(tensor: Tensor) -> Kind:
    """The properties that must be the same at every call."""
    return tensor.shape, tensor.stride(), tensor.dtype, tensor.device


def size_of(batch: Any) -> int:
    """B: the length of the first tensor that has a first axis; 0 if there is none."""
    return next((len(tensor) for tensor in leaves(batch).values() if tensor.dim()), 0)
