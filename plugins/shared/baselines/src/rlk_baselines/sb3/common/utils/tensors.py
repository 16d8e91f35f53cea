"""Small functions on torch's modules and tensors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from rlk import spaces
from rlk_networks import as_tensor


def get_device(device: torch.device | str = "auto") -> torch.device:
    """A device of torch: the GPU for `auto`, and the CPU where a GPU is asked for and none is."""
    found = torch.device("cuda" if device == "auto" else device)
    is_missing = found.type == "cuda" and not torch.cuda.is_available()
    return torch.device("cpu") if is_missing else found


def obs_as_tensor(obs: Any, device: Any) -> Any:
    """Observations, or a dict of them, as tensors on a device."""
    return as_tensor(obs, device)


def polyak_update(params: Iterable[Tensor], target_params: Iterable[Tensor], tau: float) -> None:
    """Move the parameters of a target by the part `tau` towards others, in place."""
    with torch.no_grad():
        for own, target in zip(params, target_params, strict=True):
            target.lerp_(own, tau)


def update_learning_rate(optimizer: torch.optim.Optimizer, learning_rate: float) -> None:
    """Give all parameter groups of an optimiser this learning rate."""
    for group in optimizer.param_groups:
        group["lr"] = learning_rate


def get_parameters_by_name(model: nn.Module, included_names: Iterable[str]) -> list[Tensor]:
    """The tensors of a module whose name has one of these in it."""
    wanted = tuple(included_names)
    found = model.state_dict().items()
    return [value for name, value in found if any(one in name for one in wanted)]


def is_vectorized_observation(observation: Any, observation_space: Any) -> bool:
    """Whether there is a batch of observations, rather than one.

    Raises:
        PlanError: if it is neither.
    """
    return bool(spaces.batched(observation_space, observation)[1])
