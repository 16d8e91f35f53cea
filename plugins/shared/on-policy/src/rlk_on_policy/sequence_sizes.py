"""Which minibatches of sequences a collection can be cut into. Imports no torch."""

from __future__ import annotations

from rlk.errors import PlanError


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
    shorter = [n for n in range(1, n_steps + 1) if n_steps % n == 0]
    longer = [n_steps * n for n in range(2, n_envs + 1) if n_envs % n == 0]
    possible = [*shorter, *longer]
    if batch_size in possible:
        return min(batch_size, n_steps)
    less = [str(size) for size in possible if size < batch_size][-1:]
    more = [str(size) for size in possible if size > batch_size][:1]
    raise PlanError(
        f"{title} trains a recurrent policy on sequences, and n_steps={n_steps} of n_envs={n_envs} "
        f"cannot be cut into batches of batch_size={batch_size}: it must divide n_steps, or be so "
        "many times n_steps that n_envs divides by it. Use --set batch_size="
        f"{' or '.join([*less, *more])}."
    )
