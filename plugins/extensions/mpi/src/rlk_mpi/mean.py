"""The mean of a tensor over ranks, and the same as an operator that a compiler can trace past."""

from __future__ import annotations

import torch
from torch import Tensor

from rlk_mpi.world import World, world

#: MPI adds these up; everything else travels as float32, integers as float64.
ON_THE_WIRE = (torch.float32, torch.float64)


def mean_over(ranks: World, tensor: Tensor) -> Tensor:
    """The mean over ranks of a tensor of the same shape on each, by one all-reduce.

    Any device and any strides: it travels as a contiguous copy on the CPU.

    Returns:
        A new tensor without a graph, on the same device; float32 for integers and bools.
    """
    source = tensor.detach()
    wire = source.dtype if source.dtype in ON_THE_WIRE else torch.float32
    if not source.dtype.is_floating_point:
        wire = torch.float64
    host = torch.empty(source.shape, dtype=wire)
    host.copy_(source)
    ranks.mean(host.view(-1).numpy())
    return host.to(source.device, _dtype_of_mean(source.dtype))


def _dtype_of_mean(dtype: torch.dtype) -> torch.dtype:
    return dtype if dtype.is_floating_point else torch.float32


@torch.library.custom_op("rlk_mpi::mean", mutates_args=(), tags=(torch.Tag.cudagraph_unsafe,))
def traced_mean(tensor: Tensor) -> Tensor:
    """`mean_over` all ranks of this process's world; the identity for one alone."""
    ranks = world()
    return tensor.clone() if ranks is None else mean_over(ranks, tensor)


@traced_mean.register_fake
def _(tensor: Tensor) -> Tensor:
    return torch.empty(tensor.shape, dtype=_dtype_of_mean(tensor.dtype), device=tensor.device)
