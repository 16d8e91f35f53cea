"""PPO2's hyperparameters, with the names and defaults of Stable Baselines 2.10."""

from __future__ import annotations

import attrs
from attrs import validators as v

from rlk.settings import at_least, documented, setting
from rlk_on_policy import settings
from rlk_on_policy.settings import is_clip_range_or_off
from rlk_schedules import ScheduleLike


@documented
@attrs.frozen(kw_only=True)
class PPO2Config:
    """Hyperparameters of PPO2.

    Scheduled ones take a number, `"lin_0.001"`, or a callable of the fraction that remains, 1 to 0.
    """

    gamma: float = attrs.field(default=0.99, **settings.GAMMA)
    n_steps: int = attrs.field(default=128, **settings.N_STEPS)
    ent_coef: float = attrs.field(default=0.01, **settings.ENT_COEF)
    learning_rate: ScheduleLike = attrs.field(default=0.00025, **settings.LEARNING_RATE)
    vf_coef: float = attrs.field(default=0.5, **settings.VF_COEF)
    max_grad_norm: float | None = attrs.field(default=0.5, **settings.MAX_GRAD_NORM)
    lam: float = attrs.field(default=0.95, **settings.LAM)
    nminibatches: int = attrs.field(
        default=4,
        **setting(
            "minibatches per epoch, at most n_steps * n_envs / 2; for a recurrent policy a divisor "
            "of n_envs",
            at_least(1),
        ),
    )
    noptepochs: int = attrs.field(default=4, **setting("epochs over each collection", at_least(1)))
    cliprange: ScheduleLike = attrs.field(default=0.2, **settings.CLIP_RANGE)
    cliprange_vf: ScheduleLike | None = attrs.field(
        default=None,
        **setting(
            "clipping of the value, in units of return; may be scheduled: none takes cliprange, "
            "negative turns it off",
            v.optional(is_clip_range_or_off),
        ),
    )
