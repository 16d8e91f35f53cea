"""The settings of the backend `envpool`."""

from __future__ import annotations

import attrs
from attrs import validators

from rlk.settings import at_least, documented, setting


@documented
@attrs.frozen(kw_only=True)
class EnvPoolConfig:
    """How EnvPool steps its environments."""

    num_threads: int = attrs.field(
        default=0,
        **setting(
            "threads that step the environments; 0 lets EnvPool choose",
            [validators.instance_of(int), at_least(0)],
        ),
    )
