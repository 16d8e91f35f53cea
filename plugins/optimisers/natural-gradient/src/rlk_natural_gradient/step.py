"""The natural gradient within a trust region: Schulman et al. 2015, arXiv 1502.05477, appendix C.

Minimise L(x) such that the mean divergence D(x_old, x) <= delta. With the gradient g of L and the
Hessian F of D, both at x_old, the step of the linear and quadratic models is
-sqrt(2 delta / s^T F s) s with F s = g; a line search corrects for the errors of the models.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from rlk.errors import PlanError, RlkError
from rlk.optimise import Group, Objective
from rlk.protocols import State
from rlk.records import Loss
from rlk_natural_gradient.config import NaturalGradientConfig
from rlk_natural_gradient.conjugate import conjugate_gradient
from rlk_natural_gradient.fisher import Divergence, FisherProduct
from rlk_natural_gradient.joint import joint, joint_divergence

TITLE = "optimiser 'natural-gradient' (rlk-natural-gradient)"


class NaturalGradient:
    """Moves a group whose loss has a `distribution`, by its divergence `group.options["kl"]`.

    The learning rate is the fraction of a full step that the line search begins with. A non-finite
    gradient, a loss whose `accept` is False, and a line search that finds no step change nothing.
    Outputs that a loss fits by squared error (its `prediction`) belong to the trust region as the
    mean of a Gaussian of variance 1.

    Raises:
        PlanError: if the algorithm gives the group no divergence.
    """

    def __init__(self, group: Group, config: NaturalGradientConfig | None = None) -> None:
        if "kl" not in group.options:
            raise PlanError(
                f"{TITLE} needs the divergence of the action distribution, which the parameter "
                f"group {group.name!r} is not given. Use --optimiser adam, or an on-policy "
                "algorithm; a plugin with a group of its own makes its optimiser "
                "(rlk_make_optimiser)."
            )
        self.group, self.config = group, config or NaturalGradientConfig()
        self.kl: Divergence = group.options["kl"]

    def step(self, objective: Objective) -> Loss:
        loss = objective.differentiable()
        gradient = objective.gradient_of(loss)
        norm = torch.linalg.vector_norm(gradient)
        metrics = {**loss.metrics, "grad_norm": norm}
        if objective.agree(0.0 < float(norm) < math.inf) and objective.accepts(loss):
            full = self._full_step(objective, loss, gradient)
            metrics |= self._line_search(objective, loss, full)
        return loss._replace(metrics=metrics)

    def _full_step(self, objective: Objective, loss: Loss, gradient: Tensor) -> Tensor:
        """-sqrt(2 max_kl / s^T F s) s with F s = g, float [P]; the models' best step.

        Raises:
            RlkError: if the distribution has no formula for its divergence.
        """
        config = self.config
        numbers, kl = joint(loss), joint_divergence(loss, self.kl)
        try:
            fisher = FisherProduct(numbers, self.group.parameters, kl)
        except NotImplementedError as error:
            raise RlkError(
                f"{TITLE} needs the divergence of the action distribution: {error}. Use another "
                "distribution (rlk plugins list --kind distributions), or an algorithm with "
                "--optimiser adam."
            ) from error

        def product(vector: Tensor) -> Tensor:
            return objective.mean(fisher(vector)) + config.cg_damping * vector

        solution, curvature = conjugate_gradient(
            product, gradient, config.cg_iters, objective.agree
        )
        return -(2.0 * config.max_kl / curvature).sqrt() * solution

    @torch.no_grad()
    def _line_search(self, objective: Objective, loss: Loss, full: Tensor) -> dict[str, Tensor]:
        """Takes the longest step within the trust region that does not increase the loss."""
        config, flat = self.config, self.group.flat
        old = joint(loss).detach().clone()  # it may be a view of a parameter
        kl_from = joint_divergence(loss, self.kl)
        start, before = flat.clone(), float(objective.mean(loss.value.detach()))
        fraction = float(self.group.learning_rate)
        for _ in range(config.line_search_steps):
            flat.copy_(start).add_(full, alpha=fraction)
            after = objective.evaluate()
            divergence = kl_from(old, joint(after)).mean()
            value, kl = objective.mean(torch.stack([after.value, divergence])).tolist()
            good = value <= before and kl <= config.kl_slack * config.max_kl  # False for NaN
            if objective.agree(good):
                return self._metrics(kl, fraction, 1.0)
            fraction *= config.line_search_factor
        flat.copy_(start)
        return self._metrics(0.0, 0.0, 0.0)

    def _metrics(self, kl: float, fraction: float, success: float) -> dict[str, Tensor]:
        device = self.group.flat.device
        figures = {
            "kl_divergence_loss": kl,
            "step_fraction": fraction,
            "is_line_search_success": success,
        }
        return {name: torch.tensor(value, device=device) for name, value in figures.items()}

    def state_dict(self) -> State:
        return {}

    def load_state_dict(self, state: State) -> None:
        """Nothing: no state is kept from step to step."""
