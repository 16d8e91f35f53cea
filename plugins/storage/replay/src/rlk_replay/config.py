"""Settings of the replay storage."""

from __future__ import annotations

import attrs


@attrs.frozen(kw_only=True)
class ReplayConfig:
    """How much is kept."""

    buffer_size: int = attrs.field(
        default=50_000,
        validator=[attrs.validators.instance_of(int), attrs.validators.ge(1)],
        metadata={
            "help": "transitions kept, over all environments together (1 or more); "
            "each environment keeps buffer_size // n_envs"
        },
    )
