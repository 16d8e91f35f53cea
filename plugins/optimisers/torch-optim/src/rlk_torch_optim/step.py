"""A step of an optimiser of `torch.optim`, on a flat group."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from rlk.errors import BadFile, RlkError
from rlk.optimise import Group, Objective
from rlk.protocols import State
from rlk.records import Loss
from rlk_torch_optim.config import TorchOptimConfig


class TorchOptim:
    """An optimiser of `torch.optim` that moves a whole group as one tensor.

    A non-finite gradient, or a loss whose `accept` is False, leaves everything as it was. The
    group's options `betas` and `eps` are for classes with such arguments; those of `config` come
    first.

    Raises:
        RlkError: for a value that the class refuses.
    """

    def __init__(self, group: Group, config: TorchOptimConfig | None = None) -> None:
        self.group, config = group, config or TorchOptimConfig()
        own = {
            key: group.options[key]
            for key in ("betas", "eps")
            if key in group.options and not config.ignores(key)
        }
        arguments = {**own, **config.arguments}
        self.flat = nn.Parameter(group.flat)  # the same memory
        make = getattr(torch.optim, config.kind)
        try:
            self.optimiser = make([self.flat], lr=0.0, **arguments)
        except (TypeError, ValueError) as error:
            said = ", ".join(f"{key}={one!r}" for key, one in arguments.items())
            raise RlkError(f"torch-optim: {config.kind} refuses {said}: {error}.") from error

    def step(self, objective: Objective) -> Loss:
        if torch.compiler.is_compiling():
            raise RlkError("torch-optim reads the learning rate as a number: no graph does")
        loss, gradient = objective.gradient()
        norm = torch.linalg.vector_norm(gradient)
        if math.isfinite(norm.item()) and (loss.accept is None or bool(loss.accept)):
            self._move(gradient, norm)
        return loss._replace(metrics={**loss.metrics, "grad_norm": norm})

    def _move(self, gradient: Tensor, norm: Tensor) -> None:
        """Take the step of a gradient [P], clipped to the group's norm."""
        limit = self.group.max_grad_norm
        clipped = gradient if limit is None else gradient * (limit / norm).clamp(max=1.0)
        (settings,) = self.optimiser.param_groups
        settings["lr"] = self.group.learning_rate.item()
        self.flat.grad = clipped
        self.optimiser.step()
        self.flat.grad = None

    def state_dict(self) -> State:
        """The state of the class, by its own names; empty before the first step."""
        return _cloned(self.optimiser.state.get(self.flat, {}))

    def load_state_dict(self, state: State) -> None:
        """BadFile for a tensor that is neither one number nor one for each parameter."""
        for key, one in state.items():
            if isinstance(one, Tensor) and one.dim() and one.shape != self.flat.shape:
                raise BadFile(
                    f"the state of torch-optim has {key!r} of shape {list(one.shape)}, and the "
                    f"group {self.group.name!r} has {len(self.flat)} parameters."
                )
        self.optimiser.state[self.flat] = _cloned(state)


def _cloned(state: Mapping[str, Any]) -> dict[str, Any]:
    """A state whose tensors are copies."""
    return {key: one.clone() if isinstance(one, Tensor) else one for key, one in state.items()}
