"""Random numbers for an update come in with its batch, so the update is a function of its batch.

Then it can be traced, and an eager update equals a compiled one.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import torch

from rlk.records import Array, Batch


def with_noise(batch: Batch, device: Any, **noise: Array) -> Batch:
    """The batch, which is on `device`, with arrays of noise [B, ...] among its extras, by name."""
    tensors = {name: torch.from_numpy(array).to(device) for name, array in noise.items()}
    return dataclasses.replace(batch, extras={**batch.extras, **tensors})
