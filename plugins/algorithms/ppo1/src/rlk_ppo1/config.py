"""PPO1's hyperparameters, with the names and defaults of Stable Baselines 2.10."""

from __future__ import annotations

import attrs

from rlk.settings import above, at_least, documented, finite, setting
from rlk_on_policy import settings
from rlk_on_policy.settings import is_clip_range
from rlk_schedules import ScheduleLike, is_curve_of, is_schedule


@documented
@attrs.frozen(kw_only=True)
class PPO1Config:
    """Hyperparameters of PPO1.

    `optim_stepsize` and `clip_param` may be schedules themselves if `schedule` is `constant`.
    """

    gamma: float = attrs.field(default=0.99, **settings.GAMMA)
    timesteps_per_actorbatch: int = attrs.field(
        default=256,
        **setting("steps of each environment on each rank in one collection", at_least(1)),
    )
    clip_param: ScheduleLike = attrs.field(
        default=0.2,
        **setting("clipping of the probability ratio; `schedule` scales it", is_clip_range),
    )
    entcoeff: float = attrs.field(default=0.01, **settings.ENT_COEF)
    optim_epochs: int = attrs.field(
        default=4, **setting("epochs over each collection", at_least(1))
    )
    optim_stepsize: ScheduleLike = attrs.field(
        default=0.001, **setting("the optimiser's step size; `schedule` scales it", is_schedule)
    )
    optim_batchsize: int = attrs.field(
        default=64,
        **setting(
            "transitions in a minibatch of one rank, at most timesteps_per_actorbatch * n_envs",
            at_least(1),
        ),
    )
    lam: float = attrs.field(default=0.95, **settings.LAM)
    adam_epsilon: float = attrs.field(
        default=1e-5, **setting("added to the root in Adam's divisor", [above(0.0), finite])
    )
    schedule: str = attrs.field(
        default="linear",
        **setting(
            "what optim_stepsize and clip_param are multiplied by over the run: constant, linear, "
            "double_linear_con, middle_drop or double_middle_drop",
            [is_curve_of("optim_stepsize"), is_curve_of("clip_param")],
        ),
    )
