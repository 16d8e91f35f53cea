"""The divergence of a run's distribution, for optimisers that need it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from torch import Tensor

if TYPE_CHECKING:
    from rlk.running.run import Run


def divergence(run: Run) -> Callable[[Tensor, Tensor], Tensor]:
    """(p, q) -> KL(p || q), float [...], for parameters [..., P] of the run's distribution.

    The function raises NotImplementedError with the distribution's name if that has no formula.
    """
    distribution, chosen = run.distribution, run.plan.distribution

    def kl(parameters: Tensor, other: Tensor) -> Tensor:
        try:
            found: Tensor = distribution.kl(parameters, other)
        except NotImplementedError as error:
            title = chosen.title if chosen else type(distribution).__name__
            raise NotImplementedError(f"{title} has no formula of it (kl)") from error
        return found

    return kl
