"""The states of a run's environments, with which episodes can go on where they were."""

from __future__ import annotations

from typing import Any

from rlk.abilities import KeepsEnvironmentState, offers
from rlk.documents import MAX_VALUES


def environment_states(env: Any) -> list[Any] | None:
    """The state of every environment of a vector.

    None if one of them has none, or if they are too large for a file that can be read again.
    """
    states = env.get_state() if offers(env, KeepsEnvironmentState) else None
    if states is None or any(state is None for state in states):
        return None
    return None if _size_in_json(states) > MAX_VALUES // 2 else list(states)


def _size_in_json(state: Any) -> int:
    """About as many values as `rlk.documents` finds in a state; an array has a long name."""
    size, rest = 0, [state]
    while rest:
        value = rest.pop()
        if isinstance(value, dict | list | tuple):
            size += len(value) + 1
            rest.extend(value.values() if isinstance(value, dict) else value)
        elif isinstance(value, str):
            size += len(value) // 64 + sum(map(value.count, ',[{"'))
        elif not isinstance(value, int | float | None):
            size += 8
    return size
