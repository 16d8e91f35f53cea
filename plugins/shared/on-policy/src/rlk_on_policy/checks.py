"""What on-policy algorithms refuse while a run is planned. Imports no torch."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rlk.abilities import IgnoresOptions, offers
from rlk.errors import PlanError

if TYPE_CHECKING:
    from rlk.planning.plan import Plan


def minibatches_per_epoch(transitions: int, batch_size: int) -> int:
    """The smallest number of minibatches such that none exceeds `batch_size`."""
    return math.ceil(transitions / batch_size)


def refuse_single_transitions(transitions: int, n_minibatches: int, title: str, told: str) -> None:
    """Refuse minibatches of a single transition: they have no two advantages to compare.

    Args:
        transitions: of a collection.
        n_minibatches: 1 if advantages are normalised over the whole collection.
        title: of the algorithm, for the message. told: a sentence on what to type instead.

    Raises:
        PlanError: if one has fewer than two transitions: no policy learns from it.
    """
    if transitions // n_minibatches >= 2:
        return
    found = "a collection has a single transition"
    if n_minibatches > 1:
        found = (
            f"of a collection's {transitions} transitions in {n_minibatches} minibatches one has "
            "fewer than two"
        )
    raise PlanError(
        f"{title}: {found}, and a single normalised advantage is always 0, so the policy "
        f"would learn nothing. {told}"
    )


def refuse_uneven_minibatches(n_minibatches: int, n_envs: int, title: str, setting: str) -> None:
    """Refuse minibatches that do not divide a rollout's environments evenly.

    Args:
        title: of the algorithm, for the message. setting: its name for the number of minibatches.

    Raises:
        PlanError: if they do not.
    """
    if n_envs % n_minibatches == 0:
        return
    others = [str(n) for n in range(2, n_envs + 1) if n_envs % n == 0]
    more = f" (or {', '.join(others)})" if others else ""
    raise PlanError(
        f"{title} trains a recurrent policy on whole environments' sequences, and n_envs={n_envs} "
        f"cannot be dealt out evenly to {setting}={n_minibatches}. Use --set {setting}=1{more}, or "
        f"--n-envs {n_minibatches} or a multiple of it."
    )


def sequence_length(batch_size: int, n_steps: int, n_envs: int, title: str) -> int:
    """How many steps a sequence has, so that `batch_size` transitions are whole sequences.

    It is `batch_size` itself if that divides `n_steps`; a larger batch is several environments.

    Args:
        title: of the algorithm, for the message.

    Raises:
        PlanError: if such a batch is neither.
    """
    rollouts, rest = divmod(batch_size, n_steps)
    if n_steps % batch_size == 0 or (rest == 0 and n_envs % rollouts == 0):
        return min(batch_size, n_steps)
    possible = whole_sequences(n_steps, n_envs)
    less = [str(size) for size in possible if size < batch_size][-1:]
    more = [str(size) for size in possible if size > batch_size][:1]
    raise PlanError(
        f"{title} trains a recurrent policy on sequences, and n_steps={n_steps} of n_envs={n_envs} "
        f"cannot be cut into batches of batch_size={batch_size}: it must divide n_steps, or be so "
        "many times n_steps that n_envs divides by it. Use --set batch_size="
        f"{' or '.join([*less, *more])}."
    )


def whole_sequences(n_steps: int, n_envs: int) -> list[int]:
    """The batch sizes that `sequence_length` takes, in ascending order."""
    return [*_divisors(n_steps), *(n_steps * n for n in _divisors(n_envs)[1:])]


def _divisors(number: int) -> list[int]:
    """The divisors of a positive number in ascending order, from pairs of a small and a large one.

    A collection may be of a billion steps, which takes minutes to try one by one.
    """
    small = [n for n in range(1, math.isqrt(number) + 1) if number % n == 0]
    return small + [number // n for n in reversed(small) if n * n != number]


def refuse_unread_epsilon(plan: Plan, name: str) -> None:
    """Refuse a value of the group's option `eps` that the optimiser does not read.

    Optimisers that report `natural_gradient` divide by no root of a mean square, and ignore it.
    Others say themselves with which settings they do (`IgnoresOptions`).

    Args:
        plan: of the run. name: what the algorithm calls this setting.

    Raises:
        PlanError: if it is ignored and was changed.
    """
    algorithm, optimiser = plan.algorithm, plan.optimiser
    if not algorithm.changed(name):
        return
    told = f"{algorithm.title}: {name}={getattr(algorithm.config, name)!r}"
    if "natural_gradient" in optimiser.component.reports:
        raise PlanError(
            f"{told} is for optimisers such as Adam and RMSProp, and {optimiser.title} would "
            f"ignore it. Leave {name} out, or use --optimiser adam."
        )
    reason = optimiser.config.ignores("eps") if offers(optimiser.config, IgnoresOptions) else ""
    if reason:
        raise PlanError(
            f"{told} would have no effect: {optimiser.title} {reason}. Leave {name} out."
        )


def refuse_unread_max_grad_norm(plan: Plan) -> None:
    """Refuse a `max_grad_norm` for an optimiser that clips no gradient.

    Optimisers that report `line_search` choose the length of a step themselves. A norm of None is
    in line with that.

    Raises:
        PlanError: if it is ignored and was changed.
    """
    algorithm, optimiser = plan.algorithm, plan.optimiser
    value = algorithm.config.max_grad_norm
    if value is None or "line_search" not in optimiser.component.reports:
        return
    if algorithm.changed("max_grad_norm"):
        raise PlanError(
            f"{algorithm.title}: max_grad_norm={value!r} clips gradients, and {optimiser.title} "
            "would ignore it: it searches for the length of a step. Leave max_grad_norm out, or "
            "use --optimiser adam."
        )
