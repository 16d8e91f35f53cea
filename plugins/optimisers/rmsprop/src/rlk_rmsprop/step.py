"""RMSProp: Tieleman and Hinton 2012, Coursera lecture 6.5, as in TensorFlow's `RMSPropOptimizer`.

That differs from `torch.optim.RMSprop` in three ways: epsilon is inside the root, the mean square
begins at 1, and the learning rate is part of the velocity. `variant` chooses PyTorch's.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from rlk.optimise import Group, Objective
from rlk.protocols import State
from rlk.records import Loss
from rlk_rmsprop.config import RMSPropConfig


class RMSProp:
    """RMSProp on a flat group, with momentum and clipping of the gradient's norm.

    A non-finite gradient, or a loss whose `accept` is False, leaves everything as it was. The
    group's only option is `eps` (1e-5).
    """

    def __init__(self, group: Group, config: RMSPropConfig | None = None) -> None:
        self.group, self.config = group, config or RMSPropConfig()
        self.is_torch = self.config.variant == "torch"
        self.alpha, self.momentum = self.config.alpha, self.config.momentum
        self.eps = float(group.options.get("eps", 1e-5))
        self.square = torch.full_like(group.flat, 0.0 if self.is_torch else 1.0)
        self.velocity = torch.zeros_like(group.flat)

    def step(self, objective: Objective) -> Loss:
        loss, gradient = objective.gradient()
        norm = torch.linalg.vector_norm(gradient)
        has_branches = gradient.device.type == "cpu" and not torch.compiler.is_compiling()
        if has_branches and loss.accept is None:
            self._move_on_cpu(gradient, norm.item())
        else:
            taken = torch.isfinite(norm)
            if loss.accept is not None:
                taken = taken & loss.accept
            self._move_without_branch(gradient, norm, taken)
        metrics = {**loss.metrics, "grad_norm": norm}
        return loss._replace(metrics=metrics)

    def _move_on_cpu(self, gradient: Tensor, norm: float) -> None:
        """Five passes over the group; clipping scales their factors instead of the gradient."""
        if not math.isfinite(norm):
            return
        limit = self.group.max_grad_norm
        scale = 1.0 if limit is None or norm <= limit else limit / norm
        rate = self.group.learning_rate.item()
        share = (1.0 - self.alpha) * scale * scale
        self.square.mul_(self.alpha).addcmul_(gradient, gradient, value=share)
        root = self._root(self.square)
        if self.momentum:
            inside, outside = (1.0, rate) if self.is_torch else (rate, 1.0)
            self.velocity.mul_(self.momentum).addcdiv_(gradient, root, value=scale * inside)
            self.group.flat.sub_(self.velocity, alpha=outside)
        else:
            self.group.flat.addcdiv_(gradient, root, value=-scale * rate)

    @torch.no_grad()
    def _move_without_branch(self, gradient: Tensor, norm: Tensor, taken: Tensor) -> None:
        """The same step if reading a number would wait for the device, or break a trace."""
        limit = self.group.max_grad_norm
        if limit is not None:
            gradient = gradient * (limit / norm).clamp(max=1.0)
        square = self.alpha * self.square + (1.0 - self.alpha) * gradient * gradient
        rate = self.group.learning_rate
        inside, outside = (1.0, rate) if self.is_torch else (rate, 1.0)
        moved = inside * gradient / self._root(square)
        velocity = self.momentum * self.velocity + moved if self.momentum else moved
        self.square.copy_(torch.where(taken, square, self.square))
        if self.momentum:
            self.velocity.copy_(torch.where(taken, velocity, self.velocity))
        self.group.flat.sub_(torch.where(taken, outside * velocity, 0.0))

    def _root(self, square: Tensor) -> Tensor:
        """The divisor of a gradient."""
        return square.sqrt().add_(self.eps) if self.is_torch else (square + self.eps).sqrt_()

    def state_dict(self) -> State:
        return {"square": self.square.clone(), "velocity": self.velocity.clone()}

    def load_state_dict(self, state: State) -> None:
        self.square.copy_(state["square"])
        self.velocity.copy_(state["velocity"])
