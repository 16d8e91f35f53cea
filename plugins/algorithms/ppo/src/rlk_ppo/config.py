"""PPO's hyperparameters, with the names and defaults of Stable-Baselines3."""

from __future__ import annotations

import attrs
from attrs import validators as v

from rlk.settings import above, at_least, documented, setting
from rlk_on_policy import settings
from rlk_on_policy.settings import is_clip_range
from rlk_schedules import ScheduleLike


@documented
@attrs.frozen(kw_only=True)
class PPOConfig:
    """Hyperparameters of PPO.

    Scheduled ones take a number, `"lin_0.001"`, or a callable of the fraction that remains, 1 to 0.
    """

    learning_rate: ScheduleLike = attrs.field(default=0.0003, **settings.LEARNING_RATE)
    n_steps: int = attrs.field(default=2048, **settings.N_STEPS)
    batch_size: int = attrs.field(
        default=64,
        **setting(
            "transitions in a minibatch, at most n_steps * n_envs and, with "
            "normalize_advantage, at least 2; for a recurrent policy a divisor of "
            "n_steps, or n_steps times a divisor of n_envs",
            at_least(1),
        ),
    )
    n_epochs: int = attrs.field(default=10, **setting("epochs over each collection", at_least(1)))
    gamma: float = attrs.field(default=0.99, **settings.GAMMA)
    gae_lambda: float = attrs.field(default=0.95, **settings.LAM)
    clip_range: ScheduleLike = attrs.field(default=0.2, **settings.CLIP_RANGE)
    clip_range_vf: ScheduleLike | None = attrs.field(
        default=None,
        **setting(
            "clipping of the value, in units of return; may be scheduled; none does not clip it",
            v.optional(is_clip_range),
        ),
    )
    normalize_advantage: bool = attrs.field(
        default=True, **setting("give advantages zero mean and unit variance in every minibatch")
    )
    ent_coef: float = attrs.field(default=0.0, **settings.ENT_COEF)
    vf_coef: float = attrs.field(default=0.5, **settings.VF_COEF)
    max_grad_norm: float | None = attrs.field(default=0.5, **settings.MAX_GRAD_NORM)
    use_sde: bool = attrs.field(
        default=False,
        **setting("state-dependent exploration (gSDE) for actions in a Box"),
    )
    sde_sample_freq: int = attrs.field(
        default=-1,
        **setting(
            "with use_sde, steps of an environment after which its noise is drawn "
            "again; -1 draws it only at the beginning of each collection",
            v.and_(at_least(-1), v.not_(v.in_((0,)), msg="sde_sample_freq is -1 or at least 1")),
        ),
    )
    target_kl: float | None = attrs.field(
        default=None,
        **setting(
            "the epochs end with the first minibatch whose approx_kl exceeds 1.5 times this, in "
            "nats; none for no limit",
            above(0.0, or_none=True),
        ),
    )
    stats_window_size: int = attrs.field(
        default=100,
        **setting("how many episodes the logged mean return and length are means of", at_least(1)),
    )
