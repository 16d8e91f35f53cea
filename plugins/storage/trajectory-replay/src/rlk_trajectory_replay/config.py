"""Settings of the trajectory replay."""

from __future__ import annotations

import attrs
from attrs import validators as v

from rlk.settings import at_least, documented, setting


@documented
@attrs.frozen(kw_only=True)
class TrajectoryReplayConfig:
    """How much is kept."""

    buffer_size: int = attrs.field(
        default=5000,
        **setting(
            "steps kept of each environment (1 or more), rounded down to whole collections "
            "of n_steps; one collection at least",
            [v.instance_of(int), at_least(1)],
        ),
    )
