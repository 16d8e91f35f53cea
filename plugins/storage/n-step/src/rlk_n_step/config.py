"""Settings of n-step returns."""

from __future__ import annotations

import attrs

from rlk.settings import at_least, documented, setting


@documented
@attrs.frozen(kw_only=True)
class NStepConfig:
    """How far a return looks."""

    n_steps: int = attrs.field(
        default=3,
        **setting(
            "rewards that are summed before the value counts (1 or more); 1 changes nothing",
            [attrs.validators.instance_of(int), at_least(1)],
        ),
    )
