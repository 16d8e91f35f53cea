"""Settings of `mpi`."""

from __future__ import annotations

import attrs


@attrs.frozen(kw_only=True)
class MpiConfig:
    """Settings of `mpi`."""

    check: int = attrs.field(
        default=100,
        validator=attrs.validators.ge(0),
        metadata={
            "help": "iterations between two checks that all ranks have the same parameters, at "
            "least 0; 0 checks only when training starts and ends"
        },
    )
