"""RMSProp: Tieleman and Hinton 2012, Coursera lecture 6.5, as TensorFlow's `RMSPropOptimizer` does.

It differs from `torch.optim.RMSprop` in three ways: epsilon is inside the root, the mean square
begins at 1, and the learning rate is part of the velocity.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from rlk.optimise import Group, Objective
from rlk.protocols import State
from rlk.records import Loss


class RMSProp:
    """RMSProp on a flat group, with momentum and clipping of the gradient's norm.

    A non-finite gradient, or a loss whose `accept` is False, leaves everything as it was. The
    group's `options` are `alpha` (0.99), `momentum` (0.0) and `eps` (1e-5).
    """

    def __init__(self, group: Group) -> None:
        self.group = group
        self.alpha = float(group.options.get("alpha", 0.99))
        self.momentum = float(group.options.get("momentum", 0.0))
        self.eps = float(group.options.get("eps", 1e-5))
        self.square = torch.ones_like(group.flat)
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
        return Loss(loss.value, loss.distribution, None, loss.accept, metrics, loss.outputs)

    def _move_on_cpu(self, gradient: Tensor, norm: float) -> None:
        """Five passes over the group; clipping scales their factors and not the gradient."""
        if not math.isfinite(norm):
            return
        limit = self.group.max_grad_norm
        scale = 1.0 if limit is None or norm <= limit else limit / norm
        rate = scale * self.group.learning_rate.item()
        share = (1.0 - self.alpha) * scale * scale
        self.square.mul_(self.alpha).addcmul_(gradient, gradient, value=share)
        root = torch.add(self.square, self.eps).sqrt_()
        if self.momentum:
            self.velocity.mul_(self.momentum).addcdiv_(gradient, root, value=rate)
            self.group.flat.sub_(self.velocity)
        else:
            self.group.flat.addcdiv_(gradient, root, value=-rate)

    @torch.no_grad()
    def _move_without_branch(self, gradient: Tensor, norm: Tensor, taken: Tensor) -> None:
        """The same where reading a number would wait for the device, or would end a trace."""
        limit = self.group.max_grad_norm
        if limit is not None:
            gradient = gradient * (limit / norm).clamp(max=1.0)
        step = torch.where(taken, gradient, 0.0)
        square = self.alpha * self.square + (1.0 - self.alpha) * step * step
        moved = self.group.learning_rate * step / (square + self.eps).sqrt()
        velocity = self.momentum * self.velocity + moved if self.momentum else moved
        self.square.copy_(torch.where(taken, square, self.square))
        if self.momentum:
            self.velocity.copy_(torch.where(taken, velocity, self.velocity))
        self.group.flat.sub_(torch.where(taken, velocity, 0.0))

    def state_dict(self) -> State:
        return {"square": self.square.clone(), "velocity": self.velocity.clone()}

    def load_state_dict(self, state: State) -> None:
        self.square.copy_(state["square"])
        self.velocity.copy_(state["velocity"])
