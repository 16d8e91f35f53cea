"""Settings of the replay storage."""

from __future__ import annotations

import attrs
from attrs import validators as v

from rlk.settings import at_least, documented, setting


def steps_per_env(buffer_size: int, n_envs: int) -> int:
    """How many steps of each environment a replay of this `buffer_size` keeps, at least 1."""
    return max(1, buffer_size // n_envs)


@documented
@attrs.frozen(kw_only=True)
class ReplayConfig:
    """How much is kept, and where."""

    buffer_size: int = attrs.field(
        default=50_000,
        **setting(
            "transitions kept, over all environments together (1 or more); "
            "each environment keeps buffer_size // n_envs",
            [v.instance_of(int), at_least(1)],
        ),
    )
    frame_stack: int | None = attrs.field(
        default=None,
        **setting(
            "how many frames an observation is a stack of; each frame is stored once; "
            "none means what the environment says (`stack_size`), 1 stores whole "
            "observations",
            v.optional([v.instance_of(int), at_least(1)]),
        ),
    )
    mapped: str | None = attrs.field(
        default=None,
        **setting(
            "a folder for memory-mapped files of the transitions, so that there may "
            "be more of them than memory holds",
            v.optional(v.instance_of(str)),
            written=True,
        ),
    )
