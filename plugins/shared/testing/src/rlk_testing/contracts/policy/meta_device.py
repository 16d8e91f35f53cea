"""Trying a network on another device than the CPU, on a machine that has none.

The device is torch's "meta", where tensors have a shape and a type, but no numbers.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import nn

from rlk.spaces import map_observation


def on_meta(moved: Any) -> Any:
    """A module, which is moved itself, or copies of tensors, on the device "meta"."""
    if not isinstance(moved, nn.Module):
        return map_observation(_to_meta, moved)
    swaps = torch.__future__.get_swap_module_params_on_conversion()
    # As on a GPU, its parameters are then the same objects as before.
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        return moved.to("meta")
    finally:
        torch.__future__.set_swap_module_params_on_conversion(swaps)


def _to_meta(part: Any) -> Any:
    return part.to("meta")


@contextlib.contextmanager
def explained(what: str) -> Iterator[None]:
    """Fails with advice where a network cannot compute on the device "meta"."""
    try:
        yield
    except (RuntimeError, NotImplementedError) as error:
        pytest.fail(
            f"{what} fails on another device than the CPU ({error}): make constants with "
            "register_buffer, which moves them along, and read no number of a tensor (item(), "
            "bool(), if), which waits for the device"
        )
