"""Settings of prioritized replay: those of Stable Baselines' `prioritized_replay_…`."""

from __future__ import annotations

import attrs
from attrs.validators import instance_of, optional

from rlk.settings import UNIT, at_least, between, documented, setting

#: TD errors are float32. Within these ranges, priority^alpha of any of them is above 0 in float64,
#: and so is a sum of a billion, and finite.
MOST_ALPHA, LEAST_EPS, MOST_EPS = 4.0, 1e-30, 1e30


@documented
@attrs.frozen(kw_only=True)
class PrioritizedReplayConfig:
    """How much the TD error counts, and how much of the bias the weights correct."""

    alpha: float = attrs.field(
        default=0.6,
        converter=float,
        **setting(
            "exponent of the priorities (0 to 4); 0 is uniform sampling",
            between(0, MOST_ALPHA),
        ),
    )
    beta0: float = attrs.field(
        default=0.4,
        converter=float,
        **setting("exponent of the importance weights at the start (0 to 1)", UNIT),
    )
    beta_iters: int | None = attrs.field(
        default=None,
        **setting(
            "timesteps in which that exponent goes linearly to 1 (1 or more); "
            "none means those of the whole run",
            optional([instance_of(int), at_least(1)]),
        ),
    )
    eps: float = attrs.field(
        default=1e-6,
        converter=float,
        **setting(
            "added to every absolute TD error (1e-30 to 1e30): no priority is ever 0",
            between(LEAST_EPS, MOST_EPS),
        ),
    )
