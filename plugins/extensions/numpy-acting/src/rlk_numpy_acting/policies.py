"""The numpy forward of a policy: its encoder, filters included, and the heads that are asked for."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import nn

from rlk_networks import Policy
from rlk_numpy_acting.forward import Forward, chained
from rlk_numpy_acting.layers import forward_of
from rlk_numpy_acting.observations import as_numbers

#: Above this many parameters in what is computed, torch is faster than numpy on one thread.
MAX_PARAMETERS = 200_000


class Network(NamedTuple):
    """A policy in numpy: from raw observations to features, and from those to each head's output."""

    encode: Forward
    heads: list[Forward]


def network_of(policy: nn.Module, *names: str) -> Network | None:
    """The encoder and the named heads in numpy, or None where torch is to compute them.

    That is on another device than the CPU, for large networks, and for what is not known.
    """
    if type(policy) is not Policy:
        return None
    heads = heads_of(policy, *names)
    steps = [as_numbers(policy.observation_space), *map(_filter_of, policy.filters)]
    steps.append(forward_of(policy.shared))
    known = [step for step in steps if step is not None]
    if heads is None or len(known) < len(steps) or not is_small_on_cpu(policy, "shared", *names):
        return None
    return Network(chained(*known), heads)


def heads_of(policy: nn.Module, *names: str) -> list[Forward] | None:
    """The named heads in numpy, from features [B, F], or None where torch is to compute them."""
    if not is_small_on_cpu(policy, *names):
        return None
    heads = [forward_of(policy.get_submodule(name)) for name in names]
    known = [head for head in heads if head is not None]
    return known if len(known) == len(heads) else None


def is_small_on_cpu(policy: nn.Module, *names: str) -> bool:
    """Whether these submodules together are small, in float32 and on the CPU."""
    parameters = [p for name in names for p in policy.get_submodule(name).parameters()]
    on_cpu = all(p.device.type == "cpu" and p.dtype == torch.float32 for p in parameters)
    return on_cpu and sum(p.numel() for p in parameters) <= MAX_PARAMETERS


def _filter_of(module: nn.Module) -> Forward | None:
    """What a filter of observations offers as `numpy_forward()`; see `rlk_filter_observation`."""
    offered: Any = getattr(module, "numpy_forward", None)
    forward: Forward | None = None if offered is None else offered()
    return forward
