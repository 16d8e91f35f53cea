"""The number of minibatches, and whether advantages can be normalised. Imports no torch."""

from __future__ import annotations

import math

from rlk.errors import PlanError


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
