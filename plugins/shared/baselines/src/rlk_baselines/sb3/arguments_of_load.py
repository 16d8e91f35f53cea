"""What programs pass to `load` besides, in order to look at a model that only acts."""

from __future__ import annotations

import warnings
from typing import Any


def with_room(given: dict[str, Any], batch_size: int, n_envs: int) -> dict[str, Any]:
    """Arguments of `load`, whose `buffer_size` is at least a batch, with a warning.

    Args:
        given: arguments of the constructor that are to be others.
        batch_size: transitions that are sampled at once.
        n_envs: how many environments share the replay.
    """
    least = -(-batch_size // n_envs) * n_envs
    if given.get("buffer_size", least) >= least:
        return given
    warnings.warn(
        f"buffer_size={given['buffer_size']} is less than a batch: it is {least} in this model.",
        stacklevel=6,
    )
    return {**given, "buffer_size": least}
