"""Adjusts arguments of `load` that programs pass for a model that only acts."""

from __future__ import annotations

from typing import Any

from rlk.program_warnings import warn_program


def with_room(given: dict[str, Any], batch_size: int, n_envs: int) -> dict[str, Any]:
    """Arguments of `load` with a `buffer_size` of at least one batch; warns if it was smaller.

    Args:
        given: the constructor arguments that were passed to `load`.
        batch_size: transitions per batch.
        n_envs: the number of environments that share the replay.
    """
    least = -(-batch_size // n_envs) * n_envs
    if given.get("buffer_size", least) >= least:
        return given
    warn_program(
        f"buffer_size={given['buffer_size']} is less than a batch: it is {least} in this model."
    )
    return {**given, "buffer_size": least}
