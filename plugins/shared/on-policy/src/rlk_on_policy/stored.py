"""Reads the extras of a rollout that `make_actor` stores beside every step."""

from __future__ import annotations

from rlk.errors import RlkError
from rlk.records import Array
from rlk_rollout.rollout import Rollout


def stored(rollout: Rollout, name: str) -> Array:
    """The extra of that name, [T, N, ...].

    Raises:
        RlkError: if the algorithm does not store it.
    """
    found = rollout.extras.get(name)
    if found is None:
        has = ", ".join(sorted(rollout.extras)) or "none"
        raise not_stored(name, f"the rollout with the extras {has}")
    return found


def not_stored(name: str, what: str) -> RlkError:
    """The error for an extra that is used, but not stored in `what`."""
    return RlkError(
        f"{what} does not hold {name!r}. The algorithm's extras() must return it: "
        f"{{'value': Field(()), 'log_prob': Field(())}}, from rlk.records."
    )
