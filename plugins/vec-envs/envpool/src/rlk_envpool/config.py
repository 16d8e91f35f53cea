"""The settings of the backend `envpool`."""

from __future__ import annotations

import attrs
from attrs import validators


@attrs.frozen(kw_only=True)
class EnvPoolConfig:
    """How EnvPool steps its environments."""

    num_threads: int = attrs.field(
        default=0,
        validator=[validators.instance_of(int), validators.ge(0)],
        metadata={"help": "threads that step the environments; 0 lets EnvPool choose"},
    )
