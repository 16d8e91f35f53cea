"""TRPO's hyperparameters, with the names and defaults of Stable Baselines 2.10.

There, `vf_batch_size` is no parameter: minibatches of the value function have 128 transitions.
"""

from __future__ import annotations

import attrs

from rlk.settings import at_least, documented, setting
from rlk_natural_gradient.config import CG_DAMPING, CG_ITERS, MAX_KL
from rlk_on_policy import settings
from rlk_schedules import ScheduleLike, is_schedule


@documented
@attrs.frozen(kw_only=True)
class TRPOConfig:
    """Hyperparameters of TRPO. `max_kl`, `cg_iters`, `cg_damping` go to `natural-gradient`."""

    gamma: float = attrs.field(default=0.99, **settings.GAMMA)
    timesteps_per_batch: int = attrs.field(
        default=1024,
        **setting(
            "timesteps in one collection, over all environments of this process", at_least(1)
        ),
    )
    max_kl: float = attrs.field(default=0.01, **MAX_KL)
    cg_iters: int = attrs.field(default=10, **CG_ITERS)
    lam: float = attrs.field(default=0.98, **settings.LAM)
    entcoeff: float = attrs.field(default=0.0, **settings.ENT_COEF)
    cg_damping: float = attrs.field(default=0.01, **CG_DAMPING)
    vf_stepsize: ScheduleLike = attrs.field(
        default=0.0003,
        **setting("step size of the value function's Adam; may be scheduled", is_schedule),
    )
    vf_iters: int = attrs.field(
        default=3,
        **setting(
            "epochs of the value function over each collection; 0 leaves it as it is, so that "
            "vf_stepsize has no effect",
            at_least(0),
        ),
    )
    vf_batch_size: int = attrs.field(
        default=128,
        **setting("least number of transitions in a minibatch of the value function", at_least(1)),
    )
