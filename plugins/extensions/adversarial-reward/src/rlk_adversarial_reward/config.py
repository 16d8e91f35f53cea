"""Settings of learnt rewards, with the names and defaults of Stable Baselines 2.10's GAIL."""

from __future__ import annotations

import attrs
from attrs import validators as v

from rlk.settings import at_least, documented, finite, setting
from rlk_expert_data.settings import EXPERT_PATH, TRAJ_LIMITATION
from rlk_schedules import ScheduleLike, is_schedule


@documented
@attrs.frozen(kw_only=True)
class GAILConfig:
    """Which expert is imitated, and how the discriminator learns."""

    expert_path: str | None = attrs.field(default=None, **EXPERT_PATH)
    traj_limitation: int = attrs.field(default=-1, **TRAJ_LIMITATION)
    g_step: int = attrs.field(
        default=3,
        **setting(
            "collections that the policy learns from for each training of the discriminator",
            at_least(1),
        ),
    )
    d_step: int = attrs.field(
        default=1,
        **setting(
            "batches into which a collection is divided for a training of the discriminator",
            at_least(1),
        ),
    )
    d_stepsize: ScheduleLike = attrs.field(
        default=3e-4,
        **setting("step size of the discriminator's Adam; may be scheduled", is_schedule),
    )
    adversary_entcoeff: float = attrs.field(
        default=1e-3,
        **setting("weight of the discriminator's entropy, at least 0", [at_least(0.0), finite]),
    )
    hidden_size_adversary: int = attrs.field(
        default=100,
        **setting(
            "units in each of the discriminator's two hidden layers, at least 1", at_least(1)
        ),
    )


@documented
@attrs.frozen(kw_only=True)
class AIRLConfig(GAILConfig):
    """The same for AIRL."""

    state_only: bool = attrs.field(
        default=False,
        **setting(
            "whether the reward is a function of the observation alone, which carries over to "
            "other dynamics",
            v.instance_of(bool),
        ),
    )
