"""Settings of the diagonal Gaussian."""

from __future__ import annotations

import attrs

from rlk.settings import between, documented, setting


@documented
@attrs.frozen(kw_only=True)
class DiagGaussianConfig:
    """The initial standard deviation."""

    log_std_init: float = attrs.field(
        default=0.0,
        **setting(
            "initial natural logarithm of the standard deviation, -20 to 20",
            between(-20.0, 20.0),
        ),
    )
