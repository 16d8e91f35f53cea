"""TD3's hyperparameters, with the names and defaults of Stable Baselines 2.10."""

from __future__ import annotations

import attrs

from rlk.settings import PluginText, at_least, documented, fits_float32, setting
from rlk_off_policy import settings
from rlk_schedules import ScheduleLike


@documented
@attrs.frozen(kw_only=True)
class TD3Config:
    """Hyperparameters of TD3. A timestep is one step of one environment; actions are -1 to 1."""

    gamma: float = attrs.field(default=0.99, **settings.GAMMA)
    learning_rate: ScheduleLike = attrs.field(default=0.0003, **settings.LEARNING_RATE)
    buffer_size: int = attrs.field(default=50_000, **settings.BUFFER_SIZE)
    learning_starts: int = attrs.field(default=100, **settings.RANDOM_LEARNING_STARTS)
    train_freq: settings.TrainFreq = attrs.field(default=100, **settings.TRAIN_FREQ)
    gradient_steps: int = attrs.field(default=100, **settings.GRADIENT_STEPS)
    batch_size: int = attrs.field(default=128, **settings.BATCH_SIZE)
    tau: float = attrs.field(default=0.005, **settings.TAU)
    policy_delay: int = attrs.field(
        default=2,
        **setting(
            "updates of the critics for each update of the policy and the target networks",
            at_least(1),
        ),
    )
    action_noise: PluginText | None = attrs.field(default=None, **settings.ACTION_NOISE)
    target_policy_noise: float = attrs.field(
        default=0.2,
        **setting("standard deviation of the noise on the target policy's action", at_least(0.0)),
    )
    target_noise_clip: float = attrs.field(
        default=0.5,
        **setting("largest absolute value of that noise", [at_least(0.0), fits_float32]),
    )
    n_critics: int = attrs.field(default=2, **settings.N_CRITICS)
    random_exploration: float = attrs.field(default=0.0, **settings.RANDOM_EXPLORATION)
