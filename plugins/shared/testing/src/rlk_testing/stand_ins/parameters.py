"""A minimal implementation of `rlk.protocols.Parameters` for tests."""

from __future__ import annotations

import copy
from collections.abc import Iterable

import torch
from torch import Tensor, nn

from rlk.errors import RlkError
from rlk.protocols import State


class StandInParameters:
    """All parameters of a module as views of `flat`, float [P]."""

    def __init__(self, module: nn.Module) -> None:
        self.module, self._own = module, dict(module.named_parameters())
        self.names = list(self._own)
        self.flat = torch.cat([p.detach().reshape(-1) for p in self._own.values()])
        sizes = [p.numel() for p in self._own.values()]
        self._parts = dict(zip(self.names, torch.split(self.flat, sizes), strict=True))
        for name, parameter in self._own.items():
            parameter.data = self._parts[name].view_as(parameter)

    def select(self, prefixes: Iterable[str] | None = None) -> tuple[list[nn.Parameter], Tensor]:
        if prefixes is None:
            return list(self._own.values()), self.flat
        wanted = tuple(f"{prefix}." for prefix in prefixes)
        names = [name for name in self.names if f"{name}.".startswith(wanted)]
        start = sum(self._own[name].numel() for name in self.names[: self.names.index(names[0])])
        end = start + sum(self._own[name].numel() for name in names)
        return [self._own[name] for name in names], self.flat[start:end].data

    def clone(self) -> StandInParameters:
        twin = StandInParameters(copy.deepcopy(self.module))
        twin.module.requires_grad_(False)
        return twin

    @torch.no_grad()
    def adopt(self) -> None:
        for name, parameter in self._own.items():
            view = self._parts[name].view_as(parameter)
            if not parameter.is_set_to(view):
                view.copy_(parameter)
                parameter.data = view

    def check(self) -> None:
        for name, parameter in self.module.named_parameters():
            if parameter.data_ptr() != self._parts[name].data_ptr():
                raise RlkError(f"parameter {name!r} is no longer part of the policy's flat tensor")

    def state_dict(self) -> State:
        return {name: parameter.detach().clone() for name, parameter in self._own.items()}

    @torch.no_grad()
    def load_state_dict(self, state: State) -> None:
        shapes = {name: parameter.shape for name, parameter in self._own.items()}
        missing = sorted(shapes.keys() - state.keys())
        wrong = [name for name, value in state.items() if shapes.get(name) != value.shape]
        if missing or wrong:
            raise RlkError(f"missing parameters {missing}; unknown or of another shape: {wrong}")
        for name, value in state.items():
            self._own[name].copy_(value)
