"""Settings of the algorithm. It imports no torch."""

from __future__ import annotations

import attrs

from rlk.settings import at_least, documented, setting
from rlk_off_policy import settings
from rlk_schedules import ScheduleLike


@documented
@attrs.frozen(kw_only=True)
class EnsembleDDPGConfig:
    """Hyperparameters. A timestep is one step of one environment; actions are -1 to 1."""

    gamma: float = attrs.field(default=0.99, **settings.GAMMA)
    learning_rate: ScheduleLike = attrs.field(default=0.001, **settings.LEARNING_RATE)
    buffer_size: int = attrs.field(default=50_000, **settings.BUFFER_SIZE)
    learning_starts: int = attrs.field(default=100, **settings.RANDOM_LEARNING_STARTS)
    train_freq: settings.TrainFreq = attrs.field(default=1, **settings.TRAIN_FREQ)
    gradient_steps: int = attrs.field(default=1, **settings.GRADIENT_STEPS)
    batch_size: int = attrs.field(default=64, **settings.BATCH_SIZE)
    tau: float = attrs.field(default=0.005, **settings.TAU)
    n_critics: int = attrs.field(default=5, **setting("critics in the ensemble", at_least(2)))
    policy_delay: int = attrs.field(
        default=2, **setting("updates of the critics for each of the policy", at_least(1))
    )
    action_noise: str | None = attrs.field(default=None, **settings.ACTION_NOISE)
    random_exploration: float = attrs.field(default=0.0, **settings.RANDOM_EXPLORATION)
    prioritized_replay: bool = attrs.field(default=False, **setting("sample by priority"))
