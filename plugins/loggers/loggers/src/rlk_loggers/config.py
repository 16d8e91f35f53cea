"""Settings of the loggers in this distribution."""

from __future__ import annotations

import attrs


@attrs.frozen(kw_only=True)
class TableConfig:
    """Settings of `table`."""

    min_seconds: float = attrs.field(
        default=2.0,
        validator=attrs.validators.ge(0.0),
        metadata={"help": "seconds between two tables on a terminal, at least 0"},
    )
