"""A2C's hyperparameters, with the names and defaults of Stable Baselines 2.10.

Two are Stable-Baselines3's alone: `gae_lambda` and `normalize_advantage`.
"""

from __future__ import annotations

import attrs

from rlk.settings import UNIT, above, at_least, below, documented, finite, setting
from rlk_on_policy import settings
from rlk_schedules import ScheduleLike


@documented
@attrs.frozen(kw_only=True)
class A2CConfig:
    """Hyperparameters of A2C.

    `alpha` and `momentum` go to the optimiser `rmsprop`, `epsilon` to it or `adam`.
    """

    gamma: float = attrs.field(default=0.99, **settings.GAMMA)
    n_steps: int = attrs.field(default=5, **settings.N_STEPS)
    vf_coef: float = attrs.field(default=0.25, **settings.VF_COEF)
    ent_coef: float = attrs.field(default=0.01, **settings.ENT_COEF)
    max_grad_norm: float | None = attrs.field(default=0.5, **settings.MAX_GRAD_NORM)
    learning_rate: ScheduleLike = attrs.field(default=0.0007, **settings.LEARNING_RATE)
    alpha: float = attrs.field(
        default=0.99, **setting("decay of RMSProp's running mean square, 0 to 1", UNIT)
    )
    momentum: float = attrs.field(
        default=0.0,
        **setting("momentum of RMSProp, 0 to below 1", [at_least(0.0), below(1.0)]),
    )
    epsilon: float = attrs.field(
        default=1e-5,
        **setting("added to RMSProp's mean square, inside the root", [above(0.0), finite]),
    )
    lr_schedule: str = attrs.field(default="constant", **settings.LR_SCHEDULE)
    gae_lambda: float = attrs.field(
        default=1.0,
        **setting(
            "trade-off between bias and variance in generalised advantage estimation, 0 to 1; "
            "with 1, advantages are those of n_steps returns",
            UNIT,
        ),
    )
    normalize_advantage: bool = attrs.field(
        default=False,
        **setting("give the advantages of a collection zero mean and unit variance"),
    )
