"""Adjusts arguments of `load` that programs pass for a model that only acts."""

from __future__ import annotations

from typing import Any

from rlk.program_warnings import warn_program
from rlk_baselines.arguments import is_finite


def with_room(given: dict[str, Any], batch_size: Any, n_envs: int) -> dict[str, Any]:
    """Arguments of `load` with a `buffer_size` of at least one batch; warns if it was smaller.

    Args:
        given: the constructor arguments that were passed to `load`.
        batch_size: transitions per batch; anything but a number is for the config to refuse, as is
            such a `buffer_size`.
        n_envs: the number of environments that share the replay.
    """
    if not all(map(is_finite, (batch_size, given.get("buffer_size")))):
        return given
    least = -(-batch_size // n_envs) * n_envs
    if given["buffer_size"] >= least:
        return given
    warn_program(
        f"buffer_size={given['buffer_size']} is less than a batch: it is {least} in this model."
    )
    return {**given, "buffer_size": least}
