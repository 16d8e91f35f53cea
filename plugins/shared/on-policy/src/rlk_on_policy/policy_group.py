"""The parameter group of an actor-critic, for any one optimiser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlk_on_policy.divergence import divergence
from rlk_on_policy.sampled_likelihood import SampledLikelihood
from rlk_schedules import ScheduleLike, as_schedule

if TYPE_CHECKING:
    from rlk.running.run import Run


def policy_group(
    run: Run, *, learning_rate: ScheduleLike, max_grad_norm: float | None = None, **options: Any
) -> None:
    """Declares the group `policy`: policy and value together, for `optimise("policy", …)`.

    First-order optimisers use the options that they know. Second-order ones find in the options the
    divergence `kl` and the likelihood `log_likelihood` (`SampledLikelihood`), and in every loss
    the arguments of these: an algorithm returns `Loss(total, distribution=parameters,
    prediction=value)`.

    Args:
        learning_rate: a number, `lin_0.001`, or a callable of the fraction that remains, 1 to 0.
        max_grad_norm: clip the gradient's norm to this; None does not.
        options: further ones for the optimiser (`eps=1e-5`).
    """
    run.group(
        "policy",
        learning_rate=as_schedule(learning_rate),
        max_grad_norm=max_grad_norm,
        kl=divergence(run),
        log_likelihood=SampledLikelihood(run.distribution, lambda: run.streams.numpy("fisher")),
        **options,
    )
