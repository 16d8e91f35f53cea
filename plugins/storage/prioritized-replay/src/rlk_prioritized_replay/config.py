"""Settings of prioritized replay: those of Stable Baselines' `prioritized_replay_…`."""

from __future__ import annotations

import attrs
from attrs.validators import and_, ge, gt, instance_of, le, optional

from rlk.settings import finite, setting


@attrs.frozen(kw_only=True)
class PrioritizedReplayConfig:
    """How much the TD error counts, and how much of the bias the weights correct."""

    alpha: float = attrs.field(
        default=0.6,
        converter=float,
        **setting(
            "exponent of the priorities (0 or more); 0 is uniform sampling", and_(ge(0), finite)
        ),
    )
    beta0: float = attrs.field(
        default=0.4,
        converter=float,
        **setting("exponent of the importance weights at the start (0 to 1)", and_(ge(0), le(1))),
    )
    beta_iters: int | None = attrs.field(
        default=None,
        **setting(
            "timesteps in which that exponent goes linearly to 1 (1 or more); "
            "none means those of the whole run",
            optional(and_(instance_of(int), ge(1))),
        ),
    )
    eps: float = attrs.field(
        default=1e-6,
        converter=float,
        **setting(
            "added to every absolute TD error (above 0): no priority is ever 0", and_(gt(0), finite)
        ),
    )
