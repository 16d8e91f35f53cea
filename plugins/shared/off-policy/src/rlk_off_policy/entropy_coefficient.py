"""The weight alpha of the entropy in maximum-entropy algorithms, learnt or fixed, and its loss.

Haarnoja et al. 2018, arXiv 1812.05905. Shapes: B transitions.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

import torch
from torch import Tensor, nn

from rlk.errors import RlkError
from rlk.protocols import Optimise, State
from rlk.records import Loss
from rlk.spaces import action_size
from rlk_flat_parameters import FlatParameters
from rlk_off_policy.settings import parse_ent_coef, parse_target_entropy
from rlk_schedules import ScheduleLike, as_schedule

if TYPE_CHECKING:
    from rlk.running.run import Run


def entropy_loss(log_alpha: Tensor, log_prob: Tensor, target_entropy: float) -> Tensor:
    """-log alpha E[log pi(a|s) + H], 0-dim.

    1812.05905, eq. 18, with log alpha for alpha as in the authors' code and Stable Baselines 2.10:
    the sign of the gradient is the same, and alpha stays above 0.

    Args:
        log_prob: float [B], without gradient. target_entropy: H, in nats.
    """
    return -(log_alpha * (log_prob + target_entropy)).mean()


class EntropySettings(Protocol):
    """The settings that `EntropyCoefficient` reads from the config of an algorithm."""

    @property
    def ent_coef(self) -> float | str: ...
    @property
    def target_entropy(self) -> float | str: ...
    @property
    def learning_rate(self) -> ScheduleLike: ...


class EntropyCoefficient:
    """alpha: a fixed number, or one that the parameter group `entropy` learns.

    Args:
        settings: of the algorithm.
        run: the run to which the group is added, if alpha is learnt.

    Attributes:
        log_alpha: the learnt parameter, 0-dim; None if alpha is fixed.
        target_entropy: the entropy in nats for which alpha is learnt.
    """

    def __init__(self, settings: EntropySettings, run: Run) -> None:
        learnt, initial = parse_ent_coef(settings.ent_coef)
        size = action_size(run.action_space)
        self.target_entropy = parse_target_entropy(settings.target_entropy, size)
        self.log_alpha: nn.Parameter | None = None
        self._fixed = torch.tensor(initial, device=run.device)
        if learnt:
            parameters = FlatParameters(_LogAlpha(initial).to(run.device))
            (self.log_alpha,) = parameters.parameters
            rate = as_schedule(settings.learning_rate)
            run.group("entropy", learning_rate=rate, parameters=parameters)

    def value(self) -> Tensor:
        """The current alpha, 0-dim, without gradient."""
        return self._fixed if self.log_alpha is None else self.log_alpha.detach().exp()

    def update(self, optimise: Optimise, log_prob: Tensor) -> dict[str, Tensor]:
        """Take one step of alpha, if it is learnt.

        Args:
            log_prob: of actions that the policy takes now, float [B], without gradient.

        Returns:
            Metrics: alpha before the step, and its loss.
        """
        metrics = {"ent_coef": self.value()}
        if self.log_alpha is not None:
            metrics |= optimise("entropy", self.loss, log_prob).metrics
        return metrics

    def loss(self, log_prob: Tensor) -> Loss:
        """The loss of a learnt alpha; `log_prob` as of `update`."""
        assert self.log_alpha is not None
        value = entropy_loss(self.log_alpha, log_prob, self.target_entropy)
        return Loss(value, metrics={"ent_coef_loss": value})

    def state_dict(self) -> State:
        """A part of the algorithm's state; empty if alpha is fixed."""
        if self.log_alpha is None:
            return {}
        return {"log_ent_coef": self.log_alpha.detach().view(1).clone()}

    def load_state_dict(self, state: State) -> None:
        """Restore the part of an algorithm's state that `state_dict` returned.

        A fixed alpha stays as it is.

        Raises:
            RlkError: if alpha is learnt, and the run that saved the state had a fixed one.
        """
        if self.log_alpha is None:
            return
        if "log_ent_coef" not in state:
            raise RlkError(
                "this was saved by a run with a fixed ent_coef, so it holds none to learn. "
                "Leave ent_coef as it was."
            )
        self.log_alpha.detach().view(1).copy_(state["log_ent_coef"])


class _LogAlpha(nn.Module):
    """A module of only this parameter: alpha is stored as its logarithm."""

    def __init__(self, initial: float) -> None:
        super().__init__()
        self.log_ent_coef = nn.Parameter(torch.tensor(math.log(initial)))
