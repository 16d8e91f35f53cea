"""The mean of a tensor over ranks."""

from __future__ import annotations

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
    dtype = source.dtype if source.dtype.is_floating_point else torch.float32
    return copy.to(source.device, dtype)
