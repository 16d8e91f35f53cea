"""Converts and checks the arguments of vector environments."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

#: Which environments: the index of one, or of several.
Indices = int | Iterable[int]


def refuse_no_environment(env_fns: Sequence[Any]) -> None:
    """ValueError for a vector of no environment."""
    if not env_fns:
        raise ValueError("a vector environment needs at least one environment; env_fns is empty.")


def resolve_reset(
    n: int, seed: int | Sequence[int | None] | None, options: dict[str, Any] | None
) -> tuple[list[int | None], list[int], dict[str, Any] | None]:
    """One seed for each environment, the indices to reset, and the options without `reset_mask`.

    Raises:
        ValueError: if the number of seeds or the mask does not fit n environments.
    """
    if seed is None or isinstance(seed, (int, np.integer)):
        seeds = [None if seed is None else int(seed) + i for i in range(n)]
    else:
        seeds = [None if one is None else int(one) for one in seed]
    if len(seeds) != n:
        raise ValueError(f"reset takes a seed for each environment, {n} in all; got {len(seeds)}.")
    if options is None or "reset_mask" not in options:
        return seeds, list(range(n)), options
    chosen = np.asarray(options["reset_mask"])
    if chosen.shape != (n,) or chosen.dtype != np.bool_ or not chosen.any():
        raise ValueError(f"reset_mask must be bool [{n}] with at least one True, found {chosen!r}.")
    return (
        seeds,
        np.flatnonzero(chosen).tolist(),
        {k: v for k, v in options.items() if k != "reset_mask"},
    )


def resolve_indices(n: int, indices: Indices | None) -> list[int]:
    """The indices as 0 to n - 1, where negative ones count from the end; None means all.

    Raises:
        IndexError: for an index that does not exist.
        TypeError: for what is no whole number, such as the booleans of a mask.
    """
    if indices is None:
        return list(range(n))
    chosen = [_index(one) for one in (indices if isinstance(indices, Iterable) else [indices])]
    for index in chosen:
        if not -n <= index < n:
            raise IndexError(f"there is no environment {index}: they are 0 to {n - 1}.")
    return [index % n for index in chosen]


def _index(given: Any) -> int:
    if isinstance(given, (bool, np.bool_)):
        raise TypeError(
            f"an index of an environment is a whole number, got {given}. For a mask, give "
            "np.flatnonzero(mask)."
        )
    try:
        return operator.index(given)
    except TypeError:
        raise TypeError(
            f"an index of an environment is a whole number, got {given!r:.60} "
            f"({type(given).__name__})."
        ) from None


def spread(values: Any, n: int) -> Sequence[Any]:
    """One value for each of n environments: a list or tuple unchanged, any other value n times.

    Raises:
        ValueError: for a list or tuple of another length.
    """
    if not isinstance(values, (list, tuple)):
        return [values] * n
    if len(values) != n:
        raise ValueError(f"expected a value for each environment, {n} in all; got {len(values)}.")
    return values
