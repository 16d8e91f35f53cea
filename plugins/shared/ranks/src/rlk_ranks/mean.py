"""The mean of a tensor over ranks, also as an operator that a compiler does not trace into."""

from __future__ import annotations

import importlib
from typing import Any

import torch
from torch import Tensor

from rlk_ranks.world import World

#: These dtypes are summed directly; other floats are sent as float32, integers as float64.
ON_THE_WIRE = (torch.float32, torch.float64)


def mean_over(ranks: World, tensor: Tensor) -> Tensor:
    """The mean over ranks of a tensor of the same shape on each, by one all-reduce.

    Any device and strides are allowed: a contiguous copy is sent.

    Returns:
        A new tensor without a graph, on the same device; float32 for integers and bools.
    """
    source = tensor.detach()
    wire = source.dtype if source.dtype in ON_THE_WIRE else torch.float32
    if not source.dtype.is_floating_point:
        wire = torch.float64
    copy = torch.empty(source.shape, dtype=wire, device=ranks.carrier(source.device))
    copy.copy_(source)
    ranks.sum_up(copy.view(-1))
    copy /= ranks.size
    return copy.to(source.device, _dtype_of_mean(source.dtype))


def _dtype_of_mean(dtype: torch.dtype) -> torch.dtype:
    return dtype if dtype.is_floating_point else torch.float32


def mean_at(tensor: Tensor, home: str) -> Tensor:
    """`mean_over` all ranks of this process; the identity for a single rank.

    Args:
        tensor: as for `mean_over`.
        home: the `World.home` of these ranks, because an operator cannot take an object.
    """
    module, _, function = home.partition(":")
    ranks: Any = getattr(importlib.import_module(module), function)()
    return tensor.clone() if ranks is None else mean_over(ranks, tensor)


#: `mean_at` as an operator. Torch imports its compiler when an operator is first called.
traced_mean = torch.library.custom_op(
    "rlk_ranks::mean", mean_at, mutates_args=(), tags=(torch.Tag.cudagraph_unsafe,)
)


@traced_mean.register_fake
def _(tensor: Tensor, home: str) -> Tensor:
    return torch.empty(tensor.shape, dtype=_dtype_of_mean(tensor.dtype), device=tensor.device)
