"""Whether batches are large enough for our own kernels."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Iterable, Mapping
from typing import Any

from torch import Tensor

from rlk_own_products.native import NUMBERS, WORK


def least_transitions(parameters: Iterable[Tensor]) -> int | None:
    """How many transitions a batch needs for products that are large enough.

    None if there is no matrix that our own kernel takes.
    """
    matrices = [each.shape[-1] * each.shape[-2] for each in parameters if each.dim() in (2, 3)]
    largest = max((size for size in matrices if size <= NUMBERS), default=0)
    return math.ceil(WORK / largest) if largest else None


def has_transitions(batch: Any, least: int) -> bool:
    """Whether each tensor of a batch has at least so many numbers.

    False if it is not a dataclass, or has no tensors.
    """
    kind: Any = type(batch)
    has_tensors = False
    for each in _tensors(getattr(batch, name) for name in _fields(kind)):
        if each.dim():
            if each.numel() < least:
                return False
            has_tensors = True
    return has_tensors


@functools.cache
def _fields(kind: type) -> tuple[str, ...]:
    """The names of a dataclass's fields; none for another class."""
    if not dataclasses.is_dataclass(kind):
        return ()
    return tuple(each.name for each in dataclasses.fields(kind))


def _tensors(values: Iterable[Any]) -> Iterable[Tensor]:
    """Those among the values, and in values that are mappings."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, Mapping):
            yield from _tensors(value.values())
