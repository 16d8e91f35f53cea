"""The settings of every plugin with which several ranks train."""

from __future__ import annotations

import attrs

from rlk.settings import at_least, documented, setting


@documented
@attrs.frozen(kw_only=True)
class RanksConfig:
    """Settings of several ranks that train one policy."""

    check: int = attrs.field(
        default=100,
        **setting(
            "iterations between two checks that all ranks have the same parameters, at "
            "least 0; 0 checks only when training starts and ends",
            at_least(0),
        ),
    )
