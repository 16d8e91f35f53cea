"""SAC's hyperparameters, with the names and defaults of Stable Baselines 2.10.

Those of state-dependent exploration (`use_sde` and related ones) are Stable-Baselines3's.
"""

from __future__ import annotations

import attrs

from rlk.settings import PluginText, at_least, documented, setting
from rlk_off_policy import settings
from rlk_schedules import ScheduleLike


@documented
@attrs.frozen(kw_only=True)
class SACConfig:
    """Hyperparameters of SAC. A timestep is one step of one environment."""

    gamma: float = attrs.field(default=0.99, **settings.GAMMA)
    learning_rate: ScheduleLike = attrs.field(default=0.0003, **settings.LEARNING_RATE)
    buffer_size: int = attrs.field(default=50_000, **settings.BUFFER_SIZE)
    learning_starts: int = attrs.field(default=100, **settings.RANDOM_LEARNING_STARTS)
    train_freq: settings.TrainFreq = attrs.field(default=1, **settings.TRAIN_FREQ)
    batch_size: int = attrs.field(default=64, **settings.BATCH_SIZE)
    tau: float = attrs.field(default=0.005, **settings.TAU)
    ent_coef: float | str = attrs.field(default="auto", **settings.ENT_COEF)
    target_update_interval: int = attrs.field(
        default=1, **setting("updates between two updates of the target networks", at_least(1))
    )
    gradient_steps: int = attrs.field(default=1, **settings.GRADIENT_STEPS)
    target_entropy: float | str = attrs.field(default="auto", **settings.TARGET_ENTROPY)
    n_critics: int = attrs.field(default=2, **settings.N_CRITICS)
    action_noise: PluginText | None = attrs.field(default=None, **settings.ACTION_NOISE)
    random_exploration: float = attrs.field(default=0.0, **settings.RANDOM_EXPLORATION)
    use_sde: bool = attrs.field(default=False, **settings.USE_SDE)
    sde_sample_freq: int = attrs.field(default=-1, **settings.SDE_SAMPLE_FREQ)
    use_sde_at_warmup: bool = attrs.field(default=False, **settings.USE_SDE_AT_WARMUP)
