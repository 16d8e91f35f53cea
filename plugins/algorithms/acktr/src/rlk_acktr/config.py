"""ACKTR's hyperparameters, with the names and defaults of Stable Baselines 2.10."""

from __future__ import annotations

import attrs
from attrs import validators as v

from rlk.settings import UNIT, documented, setting
from rlk_kfac.config import (
    ASYNC_EIGEN_DECOMP,
    KFAC_CLIP,
    KFAC_UPDATE,
    VF_FISHER_COEF,
)
from rlk_on_policy import settings
from rlk_schedules import ScheduleLike


@documented
@attrs.frozen(kw_only=True)
class ACKTRConfig:
    """Hyperparameters of ACKTR. Those of K-FAC go to the optimiser `kfac`."""

    gamma: float = attrs.field(default=0.99, **settings.GAMMA)
    n_steps: int = attrs.field(default=20, **settings.N_STEPS)
    ent_coef: float = attrs.field(default=0.01, **settings.ENT_COEF)
    vf_coef: float = attrs.field(default=0.25, **settings.VF_COEF)
    vf_fisher_coef: float = attrs.field(default=1.0, **VF_FISHER_COEF)
    learning_rate: ScheduleLike = attrs.field(
        default=0.25,
        **setting(
            "largest fraction of a natural gradient step that is taken; kfac_clip may reduce it",
            settings.LEARNING_RATE["validator"],
        ),
    )
    max_grad_norm: float | None = attrs.field(
        default=0.5,
        **setting(
            "the gradient's norm is clipped to this where K-FAC does not precondition it: in its "
            "first steps, and for parameters of no known layer; none for no clipping",
            settings.MAX_GRAD_NORM["validator"],
        ),
    )
    kfac_clip: float = attrs.field(default=0.001, **KFAC_CLIP)
    lr_schedule: str = attrs.field(default="linear", **settings.LR_SCHEDULE)
    async_eigen_decomp: bool = attrs.field(default=False, **ASYNC_EIGEN_DECOMP)
    kfac_update: int = attrs.field(default=1, **KFAC_UPDATE)
    gae_lambda: float | None = attrs.field(
        default=None,
        **setting(
            "trade-off between bias and variance in generalised advantage estimation, "
            "0 to 1; none takes advantages of n_steps",
            v.optional(UNIT),
        ),
    )
