"""How much is collected between updates: vector steps, or whole episodes. Imports no torch."""

from __future__ import annotations

import re

_EPISODES = re.compile(r"(\d+) episodes?")


def parse_train_freq(value: int | str) -> tuple[int, int]:
    """(vector steps, episodes) between updates, one of which is 0.

    Args:
        value: a number of vector steps (`4`), or of episodes (`"1 episode"`, `"2 episodes"`).

    Raises:
        ValueError: for anything else, or less than 1.
    """
    found = _EPISODES.fullmatch(value) if isinstance(value, str) else None
    if found and int(found[1]) >= 1:
        return 0, int(found[1])
    if isinstance(value, int) and value >= 1:
        return value, 0
    raise ValueError(
        f"must be a number of vector steps of at least 1, or of episodes as '1 episode', "
        f"got {value!r}"
    )
