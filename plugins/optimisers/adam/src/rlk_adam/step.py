"""Adam: Kingma and Ba 2015, arXiv 1412.6980, algorithm 1, with clipping of the gradient's norm."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from rlk.optimise import Group, Objective
from rlk.protocols import State
from rlk.records import Loss
from rlk_adam.config import AdamConfig, Betas


class Adam:
    """Adam on a flat group, with clipping of the gradient's norm; two fused calls.

    A non-finite gradient, or a loss whose `accept` is False, leaves everything as it was. The
    group's `options` are `betas` (0.9, 0.999) and `eps` (1e-8); those of `config` come first.
    """

    def __init__(self, group: Group, config: AdamConfig | None = None) -> None:
        self.group, config = group, config or AdamConfig()
        chosen: Betas = config.betas or group.options.get("betas", (0.9, 0.999))
        self.beta1, self.beta2 = chosen
        self.eps = float(config.eps or group.options.get("eps", 1e-8))
        self.mean = torch.zeros_like(group.flat)
        self.square = torch.zeros_like(group.flat)
        self.count = torch.zeros((), device=group.flat.device)
        precise = torch.float32 if group.flat.device.type == "mps" else torch.float64
        betas = torch.tensor([self.beta1, self.beta2], dtype=precise, device=group.flat.device)
        self._log_betas = betas.log()

    def step(self, objective: Objective) -> Loss:
        loss, gradient = objective.gradient()
        norm = torch.linalg.vector_norm(gradient)
        eager = not torch.compiler.is_compiling()
        if eager and gradient.device.type == "cpu" and loss.accept is None:
            self._move_on_cpu(gradient, norm.item())
        else:
            taken = torch.isfinite(norm)
            if loss.accept is not None:
                taken = taken & loss.accept
            move = self._move_fused if eager else self._move_traced
            move(gradient, norm, taken.to(torch.float32))
        metrics = {**loss.metrics, "grad_norm": norm}
        return loss._replace(metrics=metrics)

    def _move_on_cpu(self, gradient: Tensor, norm: float) -> None:
        """Reading the norm costs nothing here, so a branch replaces five small tensors."""
        if not math.isfinite(norm):
            return
        one, limit = self.group.one, self.group.max_grad_norm
        self.count += one
        self._fused(gradient, one * (norm / limit) if limit and norm > limit else None, None)

    @torch.no_grad()
    def _move_fused(self, gradient: Tensor, norm: Tensor, taken: Tensor) -> None:
        """The same step where reading the norm would wait for the device."""
        limit = self.group.max_grad_norm
        self.count += taken
        scale = self.group.one if limit is None else (norm / limit).clamp(min=1.0)
        self._fused(gradient, scale, 1.0 - taken)

    def _fused(self, gradient: Tensor, scale: Tensor | None, skip: Tensor | None) -> None:
        """One call for the step, by the gradient divided by `scale`; none if `skip` is 1."""
        torch._fused_adam_(
            [self.group.flat],
            [gradient],
            [self.mean],
            [self.square],
            [],
            [self.count],
            lr=self.group.learning_rate,
            beta1=self.beta1,
            beta2=self.beta2,
            weight_decay=0.0,
            eps=self.eps,
            amsgrad=False,
            maximize=False,
            grad_scale=scale,
            found_inf=skip,
        )

    @torch.no_grad()
    def _move_traced(self, gradient: Tensor, norm: Tensor, taken: Tensor) -> None:
        """Adam written out, because `_fused_adam_` does not trace; the compiler fuses this itself.

        Inductor recomputes scalar divisions for every vector, but keeps the result of `exp`; so the
        bias corrections are written with `exp`. Divisions took a quarter of the loop.
        """
        self.count += taken
        limit = self.group.max_grad_norm
        if limit is not None:
            gradient = gradient * (limit / norm).clamp(max=1.0)
        step = torch.where(taken > 0, gradient, 0.0)
        mean = torch.lerp(self.mean, step, 1.0 - self.beta1)
        square = self.beta2 * self.square + (1.0 - self.beta2) * step * step
        decay = torch.exp(self.count.clamp(min=1.0) * self._log_betas)
        inverse = torch.exp(-torch.log1p(-decay))  # 1 / (1 - beta^t)
        rate = taken * self.group.learning_rate * inverse[0].to(mean.dtype)
        root = (square * inverse[1].to(mean.dtype)).sqrt() + self.eps
        self.mean.copy_(torch.where(taken > 0, mean, self.mean))
        self.square.copy_(torch.where(taken > 0, square, self.square))
        self.group.flat.sub_(rate * mean / root)

    def state_dict(self) -> State:
        return {
            "mean": self.mean.clone(),
            "square": self.square.clone(),
            "count": self.count.clone(),
        }

    def load_state_dict(self, state: State) -> None:
        self.mean.copy_(state["mean"])
        self.square.copy_(state["square"])
        self.count.copy_(state["count"])
