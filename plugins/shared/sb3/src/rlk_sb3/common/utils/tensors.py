"""Small functions for torch modules and tensors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from rlk import spaces
from rlk.program_warnings import warn_program
from rlk_networks import as_tensor


def get_device(device: torch.device | str = "auto") -> torch.device:
    """A torch device; `auto` means the GPU, and without a GPU it is always the CPU."""
    found = torch.device("cuda" if device == "auto" else device)
    is_missing = found.type == "cuda" and not torch.cuda.is_available()
    return torch.device("cpu") if is_missing else found


def usable_device(device: torch.device | str) -> str:
    """The name of a device; cpu, with a warning, if it is `cuda` and there is none."""
    name = str(device)
    if not name.startswith("cuda") or torch.cuda.is_available():
        return name
    warn_program(f"torch finds no GPU, so device={name!r} is the CPU here")
    return "cpu"


def obs_as_tensor(obs: Any, device: Any) -> Any:
    """Convert an array of observations, or a dict of them, to tensors on a device."""
    return as_tensor(obs, device)


def polyak_update(params: Iterable[Tensor], target_params: Iterable[Tensor], tau: float) -> None:
    """Polyak averaging in place: target = (1 - tau) target + tau param, for every parameter."""
    with torch.no_grad():
        for own, target in zip(params, target_params, strict=True):
            target.lerp_(own, tau)


def update_learning_rate(optimizer: torch.optim.Optimizer, learning_rate: float) -> None:
    """Set the learning rate of all parameter groups of an optimiser."""
    for group in optimizer.param_groups:
        group["lr"] = learning_rate


def get_parameters_by_name(model: nn.Module, included_names: Iterable[str]) -> list[Tensor]:
    """The tensors in a module's state dict whose names contain one of these names."""
    wanted = tuple(included_names)
    found = model.state_dict().items()
    return [value for name, value in found if any(one in name for one in wanted)]


def is_vectorized_observation(observation: Any, observation_space: Any) -> bool:
    """Whether this is a batch of observations, rather than a single one.

    Raises:
        PlanError: if it is neither, because its shape does not fit the space.
    """
    return bool(spaces.batched(observation_space, observation)[1])
