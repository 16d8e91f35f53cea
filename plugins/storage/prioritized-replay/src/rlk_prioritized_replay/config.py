"""Settings of prioritized replay: those of Stable Baselines' `prioritized_replay_…`."""

from __future__ import annotations

import attrs
from attrs.validators import and_, ge, gt, instance_of, le, optional

from rlk.settings import finite


@attrs.frozen(kw_only=True)
class PrioritizedReplayConfig:
    """How much the TD error counts, and how much of the bias the weights correct."""

    alpha: float = attrs.field(
        default=0.6,
        converter=float,
        validator=and_(ge(0), finite),
        metadata={"help": "exponent of the priorities (0 or more); 0 is uniform sampling"},
    )
    beta0: float = attrs.field(
        default=0.4,
        converter=float,
        validator=and_(ge(0), le(1)),
        metadata={"help": "exponent of the importance weights at the start (0 to 1)"},
    )
    beta_iters: int | None = attrs.field(
        default=None,
        validator=optional(and_(instance_of(int), ge(1))),
        metadata={
            "help": "timesteps in which that exponent goes linearly to 1 (1 or more); "
            "none means those of the whole run"
        },
    )
    eps: float = attrs.field(
        default=1e-6,
        converter=float,
        validator=and_(gt(0), finite),
        metadata={"help": "added to every absolute TD error (above 0): no priority is ever 0"},
    )
