"""DDPG's hyperparameters, with the names and defaults of Stable Baselines 2.10.

One is not a parameter of its class there: `learning_starts`, which is Stable-Baselines3's.
"""

from __future__ import annotations

import math
from typing import Any

import attrs
from attrs import validators as v

from rlk.settings import PluginText, at_least, documented, finite, setting
from rlk_observation_statistics.config import is_range
from rlk_off_policy import settings
from rlk_schedules import ScheduleLike, is_schedule

Range = tuple[float, float]


def _needs_normalized_returns(config: DDPGConfig, _: Any, value: bool) -> None:
    if value and not config.normalize_returns:
        raise ValueError("enable_popart changes normalised returns: set normalize_returns=true too")


@documented
@attrs.frozen(kw_only=True)
class DDPGConfig:
    """Hyperparameters of DDPG. A timestep is one step of one environment; actions are -1 to 1."""

    gamma: float = attrs.field(default=0.99, **settings.GAMMA)
    memory_policy: PluginText | None = attrs.field(
        default=None, **setting("the replay, by its name; the same as --storage or --plugin")
    )
    eval_env: Any = attrs.field(
        default=None,
        **setting(
            "an environment to evaluate in, as --env takes it, or true for one like "
            "that of training",
            environment=True,
        ),
    )
    nb_train_steps: int = attrs.field(default=50, **settings.GRADIENT_STEPS)
    nb_rollout_steps: settings.TrainFreq = attrs.field(default=100, **settings.TRAIN_FREQ)
    nb_eval_steps: int = attrs.field(
        default=100, **setting("smallest number of steps in an evaluation", at_least(1))
    )
    param_noise: PluginText | None = attrs.field(
        default=None,
        **setting("a noise on the policy's parameters: param-noise:desired_action_stddev=0.2"),
    )
    action_noise: PluginText | None = attrs.field(default=None, **settings.ACTION_NOISE)
    normalize_observations: bool = attrs.field(
        default=False,
        **setting("normalise observations"),
    )
    tau: float = attrs.field(default=0.001, **settings.TAU)
    batch_size: int = attrs.field(default=128, **settings.BATCH_SIZE)
    param_noise_adaption_interval: int = attrs.field(
        default=50, **setting("updates between changes of the strength of param_noise", at_least(1))
    )
    normalize_returns: bool = attrs.field(
        default=False,
        **setting("the critic learns returns normalised by their running mean and deviation"),
    )
    enable_popart: bool = attrs.field(
        default=False,
        **setting(
            "rescale the critics' output layers when that normalisation changes, so "
            "that their values stay the same (Pop-Art); needs normalize_returns",
            _needs_normalized_returns,
        ),
    )
    observation_range: Range = attrs.field(
        default=(-5.0, 5.0),
        **setting("bounds to which the observations of the networks are clipped", is_range),
    )
    critic_l2_reg: float = attrs.field(
        default=0.0,
        **setting("weight of the critic's squared weights in its loss", [at_least(0.0), finite]),
    )
    return_range: Range = attrs.field(
        default=(-math.inf, math.inf),
        **setting(
            "bounds to which the critic's values are clipped, after normalisation if there is one",
            is_range,
        ),
    )
    actor_lr: ScheduleLike = attrs.field(
        default=1e-4, **setting("learning rate of the policy; may be scheduled", is_schedule)
    )
    critic_lr: ScheduleLike = attrs.field(
        default=1e-3, **setting("learning rate of the critic; may be scheduled", is_schedule)
    )
    clip_norm: float | None = attrs.field(default=None, **settings.MAX_GRAD_NORM)
    reward_scale: float = attrs.field(
        default=1.0,
        **setting(
            "what rewards are multiplied by before they are learnt from, not 0",
            v.and_(finite, v.not_(v.in_((0.0,)), msg="reward_scale must not be 0")),
        ),
    )
    render: bool = attrs.field(default=False, **setting("show training in a window"))
    render_eval: bool = attrs.field(
        default=False, **setting("show evaluations in a window; needs eval_env")
    )
    memory_limit: int | None = attrs.field(
        default=None, **setting("an older name of buffer_size", at_least(1, or_none=True))
    )
    buffer_size: int = attrs.field(default=50_000, **settings.BUFFER_SIZE)
    random_exploration: float = attrs.field(default=0.0, **settings.RANDOM_EXPLORATION)
    learning_starts: int = attrs.field(default=0, **settings.RANDOM_LEARNING_STARTS)

    @property
    def train_freq(self) -> settings.TrainFreq:
        """As `UpdateSchedule` calls it."""
        return self.nb_rollout_steps

    @property
    def gradient_steps(self) -> int:
        """As `UpdateSchedule` calls it."""
        return self.nb_train_steps
