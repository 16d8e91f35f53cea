"""DDPG's hyperparameters, with the names and defaults of Stable Baselines 2.10.

One is not a parameter of its class: `learning_starts`, which is Stable-Baselines3's.
"""

from __future__ import annotations

import math
from typing import Any

import attrs
from attrs import validators as v

from rlk.settings import PluginText
from rlk_observation_statistics.config import is_range
from rlk_off_policy import settings
from rlk_off_policy.settings import described

Range = tuple[float, float]


def _renamed(instead: str) -> Any:
    """A validator: the parameter is deprecated in Stable Baselines, and something else does it."""

    def validator(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
        if value is not None:
            raise ValueError(f"{attribute.name} is deprecated in Stable Baselines 2.10: {instead}")

    return validator


def _not_true(instead: str) -> Any:
    """A validator: the switch cannot be turned on, and something else does it."""

    def validator(_: object, attribute: attrs.Attribute[Any], value: bool) -> None:
        if value:
            raise ValueError(f"{attribute.name}: {instead}")

    return validator


def _needs_normalized_returns(config: DDPGConfig, _: Any, value: bool) -> None:
    if value and not config.normalize_returns:
        raise ValueError("enable_popart changes normalised returns: set normalize_returns=true too")


@attrs.frozen(kw_only=True)
class DDPGConfig:
    """Hyperparameters of DDPG. A timestep is one step of one environment; actions are -1 to 1."""

    gamma: float = attrs.field(default=0.99, **settings.GAMMA)
    memory_policy: Any = attrs.field(
        default=None,
        **described(
            "deprecated, refused: the replay is chosen by --storage and --plugin",
            _renamed("choose the replay by --storage replay or --plugin prioritized-replay"),
        ),
    )
    nb_train_steps: int = attrs.field(
        default=50,
        **described(
            "updates after each collection; -1 is one per timestep",
            settings.GRADIENT_STEPS["validator"],
        ),
    )
    nb_rollout_steps: int | str = attrs.field(
        default=100,
        **described(
            "vector steps of each collection, or episodes, as '1 episode'",
            settings.TRAIN_FREQ["validator"],
        ),
    )
    param_noise: PluginText | None = attrs.field(
        default=None,
        **described(
            "a noise on the policy's parameters, such as param-noise:desired_action_stddev=0.2"
        ),
    )
    action_noise: PluginText | None = attrs.field(default=None, **settings.ACTION_NOISE)
    normalize_observations: bool = attrs.field(
        default=False,
        **described(
            "normalise observations by the statistics of training; the same as --plugin "
            "observation-statistics"
        ),
    )
    tau: float = attrs.field(default=0.001, **settings.TAU)
    batch_size: int = attrs.field(default=128, **settings.BATCH_SIZE)
    param_noise_adaption_interval: int = attrs.field(
        default=50,
        **described("updates between changes of the strength of param_noise", v.ge(1)),
    )
    normalize_returns: bool = attrs.field(
        default=False,
        **described("the critic learns returns normalised by their running mean and deviation"),
    )
    enable_popart: bool = attrs.field(
        default=False,
        **described(
            "rescale the critics' output layers where that normalisation changes, so that their "
            "values stay (Pop-Art); needs normalize_returns",
            _needs_normalized_returns,
        ),
    )
    observation_range: Range = attrs.field(
        default=(-5.0, 5.0),
        **described("bounds of the observations that the networks are given", is_range),
    )
    critic_l2_reg: float = attrs.field(
        default=0.0,
        **described("weight of the critic's squared weights in its loss, halved", v.ge(0.0)),
    )
    return_range: Range = attrs.field(
        default=(-math.inf, math.inf),
        **described("bounds of the critic's values, of normalised ones where they are", is_range),
    )
    actor_lr: float = attrs.field(
        default=1e-4, **described("learning rate of the policy", v.gt(0.0))
    )
    critic_lr: float = attrs.field(
        default=1e-3, **described("learning rate of the critic", v.gt(0.0))
    )
    clip_norm: float | None = attrs.field(default=None, **settings.MAX_GRAD_NORM)
    reward_scale: float = attrs.field(
        default=1.0, **described("what rewards are multiplied by before they are learnt from")
    )
    memory_limit: int | None = attrs.field(
        default=None,
        **described("deprecated, refused: it is called buffer_size", _renamed("set buffer_size")),
    )
    buffer_size: int = attrs.field(default=50_000, **settings.BUFFER_SIZE)
    random_exploration: float = attrs.field(default=0.0, **settings.RANDOM_EXPLORATION)
    learning_starts: int = attrs.field(default=0, **settings.RANDOM_LEARNING_STARTS)

    # ---- by the names that `UpdateSchedule` reads ------------------------------------------------

    @property
    def train_freq(self) -> int | str:
        return self.nb_rollout_steps

    @property
    def gradient_steps(self) -> int:
        return self.nb_train_steps
