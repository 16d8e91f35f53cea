"""K-FAC's step within a trust region: Wu et al. 2017, arXiv 1708.05144, section 3.

    D_l   = A_l^-1 (dL/dW_l) G_l^-1        for every layer l, with damped factors
    scale = min(1, sqrt(kfac_clip / (lr^2 D . dL/dx)))
    v     = momentum v + scale D,    x = x - lr (1 - momentum) v

Shapes: P parameters of the group.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from rlk.errors import PlanError, RlkError
from rlk.optimise import Group, Objective
from rlk.protocols import State
from rlk.records import Loss
from rlk_kfac.batch_factors import Pair, are_finite, batch_factors, layouts_of, mean_over_ranks
from rlk_kfac.config import KfacConfig
from rlk_kfac.inverses import AtOnce, InThread
from rlk_kfac.layer import Layer
from rlk_kfac.products import Key, Product, Products
from rlk_kfac.running_factors import RunningFactors, as_state, check_alike, from_state

TITLE = "optimiser 'kfac' (rlk-kfac)"


class Kfac:
    """Natural gradient steps, by the Kronecker factors of each layer in a loss.

    The layers are found while a loss is evaluated (`Products`). Parameters of no known layer move
    by the plain gradient, clipped to the group's `max_grad_norm`, within the same trust region. So
    do all parameters in the first `cold_iter` steps, while the factors are estimated.

    A loss whose `accept` is False changes nothing. Nor does a non-finite number in the gradient or
    in the factors of any rank; then all ranks report a `step_scale` of NaN, which ends the run.

    Raises:
        PlanError: if the algorithm gives the group no likelihood.
    """

    def __init__(self, group: Group, config: KfacConfig | None = None) -> None:
        if "log_likelihood" not in group.options:
            raise PlanError(
                f"{TITLE} needs a likelihood of actions and values (the option `log_likelihood`), "
                f"which the parameter group {group.name!r} is not given. Use --optimiser adam, or "
                "an on-policy algorithm; a plugin with a group of its own makes its optimiser "
                "(rlk_make_optimiser)."
            )
        self.group, self.config = group, config or KfacConfig()
        self.likelihood: Callable[..., Tensor] = group.options["log_likelihood"]
        self.count = 0  #: steps taken
        self.velocity = torch.zeros_like(group.flat)
        self.factors = RunningFactors()
        kind = InThread if self.config.async_eigen_decomp else AtOnce
        self.inverses = kind(self.config.epsilon)
        self._layers: dict[Key, Layer] = {}
        self._gradient, self._step = torch.zeros_like(group.flat), torch.zeros_like(group.flat)

    def step(self, objective: Objective) -> Loss:
        if torch.compiler.is_compiling():
            raise RlkError(f"{TITLE} finds layers by watching what a loss calls: no graph does")
        with Products(self.group.parameters) as products:
            loss = objective.differentiable()
        self._gradient.copy_(objective.gradient_of(loss))
        fresh = mean_over_ranks(objective, self._batch_factors(loss, products.found))
        norm = torch.linalg.vector_norm(self._gradient)
        is_good = objective.agree(are_finite(fresh) and math.isfinite(float(norm)))
        scale = 1.0 if is_good else math.nan
        if is_good and objective.accepts(loss):
            self._take_in(fresh, products.found)
            scale = self._move(float(norm))
        figures = {"grad_norm": norm, "step_scale": norm.new_tensor(scale)}
        metrics = {**loss.metrics, **figures}
        return loss._replace(metrics=metrics)

    def _batch_factors(self, loss: Loss, products: list[Product]) -> dict[Key, Pair]:
        if loss.distribution is None:
            raise RlkError(
                f"{TITLE}: the loss returns no action distribution. Return "
                "Loss(value, distribution=parameters)."
            )
        likelihood = self.likelihood(loss.distribution, loss.prediction, self.config.vf_fisher_coef)
        with torch.no_grad():
            return batch_factors(products, likelihood, len(loss.distribution))

    def _take_in(self, fresh: dict[Key, Pair], products: list[Product]) -> None:
        """Means of all batches so far, later with decay: section 5 of Martens and Grosse."""
        self.count += 1
        self.factors.take_in(fresh, max(1.0 / self.count, 1.0 - self.config.stats_decay))
        if not fresh.keys() <= self._layers.keys():
            parameters, flats = self.group.parameters, (self._gradient, self._step)
            for key, layout in layouts_of(products).items():
                self._layers[key] = Layer(layout, key, *flats, parameters)

    @torch.no_grad()
    def _move(self, norm: float) -> float:
        """Take the step; return its scale, at most 1, which keeps it within the trust region.

        Where its length overflows, no step is taken, and the scale is NaN.
        """
        limit, momentum = self.group.max_grad_norm, self.config.momentum
        rate, scale = float(self.group.learning_rate), 1.0
        clip = limit / norm if limit is not None and norm > limit else 1.0
        torch.mul(self._gradient, clip, out=self._step)
        if self.count > self.config.cold_iter:
            self._precondition()
            length = rate * rate * float(self._step.dot(self._gradient))
            if not math.isfinite(length):
                return math.nan
            if length > self.config.kfac_clip:
                scale = math.sqrt(self.config.kfac_clip / length)
        self.velocity.mul_(momentum).add_(self._step, alpha=scale)
        self.group.flat.sub_(self.velocity, alpha=rate * (1.0 - momentum))
        return scale

    def _precondition(self) -> None:
        since_cold = self.count - self.config.cold_iter - 1
        if since_cold % self.config.kfac_update == 0:
            self.factors.inverses = self.inverses.renewed(self.factors.means)
        for key, inverses in self.factors.inverses.items():
            if key in self._layers:
                self._layers[key].precondition(inverses)

    # ---- state ----------------------------------------------------------------------------------

    def state_dict(self) -> State:
        return {
            "count": self.count,
            "velocity": self.velocity.clone(),
            "factors": self.factors.state_dict(),
            "coming": as_state(self.inverses.coming()),
        }

    def load_state_dict(self, state: State) -> None:
        coming = from_state(state["coming"], self.group.flat.device)
        self.factors.load_state_dict(state["factors"], self.group.parameters)
        check_alike(coming, self.factors.means)
        self.inverses.restore(coming)
        self.count = state["count"]
        self.velocity.copy_(state["velocity"])
