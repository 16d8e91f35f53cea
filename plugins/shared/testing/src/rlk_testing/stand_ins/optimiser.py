"""The smallest optimiser: plain gradient descent."""

from __future__ import annotations

import torch

from rlk.optimise import Group, Objective
from rlk.protocols import State
from rlk.records import Loss


class StandInOptimiser:
    """Plain gradient descent; a step that is non-finite or not accepted is skipped."""

    def __init__(self, group: Group) -> None:
        self.group = group

    def step(self, objective: Objective) -> Loss:
        loss, gradient = objective.gradient()
        norm = torch.linalg.vector_norm(gradient)
        taken = torch.isfinite(norm)
        if loss.accept is not None:
            taken = taken & loss.accept
        move = torch.where(taken, self.group.learning_rate * gradient, torch.zeros_like(gradient))
        self.group.flat.sub_(move)
        return loss._replace(metrics={**loss.metrics, "grad_norm": norm})

    def state_dict(self) -> State:
        return {}

    def load_state_dict(self, state: State) -> None:
        """It has no state."""
