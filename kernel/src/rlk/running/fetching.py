"""Metrics of updates on another device, brought to the CPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor


def fetched(rows: Sequence[Mapping[str, Tensor]]) -> Sequence[Mapping[str, Tensor]]:
    """The same metrics, with single numbers of another device fetched in one transfer.

    A transfer waits for the device, and takes as long as a step of a simple environment. If the
    first metric of the first row is on the CPU, all of them are taken to be.
    """
    if not rows or not _is_away(next(iter(rows[0].values()), None)):
        return rows
    away = [value for row in rows for value in row.values() if _is_away(value)]
    here = iter(torch.stack(away).cpu().unbind())
    return [
        {name: next(here) if _is_away(value) else value for name, value in row.items()}
        for row in rows
    ]


def _is_away(value: Any) -> bool:
    """Whether it is a tensor of a single number on another device than the CPU."""
    kind = getattr(getattr(value, "device", None), "type", "cpu")
    return kind != "cpu" and value.ndim == 0
