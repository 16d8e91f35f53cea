"""Names of a policy's parameters: in torch `pi.out.weight`, in rlk `model/pi/out/weight`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import nn


def rlks_names(policy: nn.Module) -> dict[str, str]:
    """The names in `get_parameters` of all parameters and buffers, by those in the module."""
    return {name: f"model/{name.replace('.', '/')}" for name in policy.state_dict()}


def by_rlks_names(values: Mapping[str, Any], policy: nn.Module) -> dict[str, Any]:
    """Values with those names in `get_parameters` that the module's names stand for."""
    names = rlks_names(policy)
    return {names.get(name, name): value for name, value in values.items()}


def by_torchs_names(
    values: Mapping[str, Any], policy: nn.Module
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The values of the policy's state, by the module's names, and all other values."""
    names = {theirs: name for name, theirs in rlks_names(policy).items()}
    own = {names[name]: value for name, value in values.items() if name in names}
    return own, {name: value for name, value in values.items() if name not in names}
