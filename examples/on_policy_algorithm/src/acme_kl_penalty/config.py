"""Settings of the algorithm. It imports no torch."""

from __future__ import annotations

import attrs

from rlk.settings import above, at_least, documented, setting
from rlk_on_policy import settings
from rlk_schedules import ScheduleLike


@documented
@attrs.frozen(kw_only=True)
class KLPenaltyPPOConfig:
    """Hyperparameters."""

    gamma: float = attrs.field(default=0.99, **settings.GAMMA)
    lam: float = attrs.field(default=0.95, **settings.LAM)
    n_steps: int = attrs.field(
        default=128, **setting("steps of each environment in one collection", at_least(2))
    )
    n_epochs: int = attrs.field(default=4, **setting("passes over each collection", at_least(1)))
    n_minibatches: int = attrs.field(default=4, **setting("minibatches of each pass", at_least(1)))
    learning_rate: ScheduleLike = attrs.field(default=0.003, **settings.LEARNING_RATE)
    kl_coef: float = attrs.field(
        default=1.0, **setting("weight of the penalty at the start, above 0", above(0.0))
    )
    target_kl: float = attrs.field(
        default=0.01,
        **setting("divergence of two policies in a row that the weight aims at, in nats", above(0)),
    )
    ent_coef: float = attrs.field(default=0.01, **settings.ENT_COEF)
    vf_coef: float = attrs.field(default=0.5, **settings.VF_COEF)
    max_grad_norm: float | None = attrs.field(default=0.5, **settings.MAX_GRAD_NORM)
