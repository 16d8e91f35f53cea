"""The numpy forward of a policy: its encoder with all filters, and the requested heads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import torch
from torch import nn

from rlk_networks import Policy
from rlk_numpy_acting.forward import Forward, StaysInTorch, chained
from rlk_numpy_acting.layers import forward_of
from rlk_numpy_acting.observations import as_numbers

#: Above this number of parameters in the computation, torch is faster than numpy on one thread.
MAX_PARAMETERS = 200_000


class Network(NamedTuple):
    """A policy in numpy.

    Attributes:
        encode: from raw observations [N, ...] to features [N, F].
        heads: from features to the output of each requested head.
    """

    encode: Forward
    heads: list[Forward]


def network_of(policy: Policy, *names: str) -> Network:
    """The encoder and the named heads in numpy.

    Raises:
        StaysInTorch: for large networks, and for unknown modules.
    """
    check_network(policy, *names)
    filters = [forward_of(module) for module in policy.filters]
    encode = chained(as_numbers(policy.observation_space), *filters, forward_of(policy.shared))
    return Network(encode, [forward_of(policy.get_submodule(name)) for name in names])


def check_network(policy: Policy, *names: str) -> None:
    """Raise StaysInTorch for another type of policy, for hooks, and for a large network."""
    if type(policy) is not Policy:
        raise StaysInTorch(f"policy {type(policy).__name__}")
    _check_size(policy, *names)
    _check_calls(policy, *names)


def hooks_of(policy: Policy, *names: str) -> tuple[Mapping[int, Any], ...]:
    """The forward hooks of the policy, its filters, its encoder and the named heads.

    While one of these mappings is not empty, PyTorch must act, because it calls the hooks. Those of
    the containers of layers are left out: nobody calls a container.
    """
    modules = [one for one in _called(policy, *names) if type(one) is not nn.ModuleList]
    return tuple(hooks for one in modules for hooks in (one._forward_hooks, one._forward_pre_hooks))


def _called(policy: Policy, *names: str) -> Iterator[nn.Module]:
    """The policy itself, and all parts of its filters, its encoder and the named heads."""
    yield policy
    for one in (*policy.filters, policy.shared, *map(policy.get_submodule, names)):
        yield from one.modules()


def _check_calls(policy: Policy, *names: str) -> None:
    """Raise StaysInTorch where a call of a module does something beside its class's forward."""
    if any(hooks_of(policy, *names)):
        raise StaysInTorch("forward hooks")
    for module in _called(policy, *names):
        if "forward" in vars(module):
            raise StaysInTorch(f"another forward of module {type(module).__name__}")


def is_on_cpu(policy: nn.Module) -> bool:
    """Whether all parameters are in the CPU's memory."""
    return all(one.device.type == "cpu" for one in policy.parameters())


def _check_size(policy: Policy, *names: str) -> None:
    """Raise StaysInTorch unless the encoder and the named heads are small and in float32."""
    modules = (policy.shared, *map(policy.get_submodule, names))
    parameters = [p for one in modules for p in one.parameters()]
    size = sum(p.numel() for p in parameters)
    if size > MAX_PARAMETERS:
        raise StaysInTorch(f"{size} parameters")
    if any(p.dtype != torch.float32 for p in parameters):
        raise StaysInTorch("parameters that are not float32")
