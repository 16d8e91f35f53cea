"""Settings of the loggers in this distribution."""

from __future__ import annotations

import attrs

from rlk.settings import at_least, documented, setting


@documented
@attrs.frozen(kw_only=True)
class TableConfig:
    """Settings of `table`."""

    min_seconds: float = attrs.field(
        default=2.0,
        **setting(
            "seconds between two tables on a terminal or in a notebook, at least 0",
            at_least(0.0),
        ),
    )
