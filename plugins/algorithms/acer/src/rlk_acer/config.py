"""ACER's hyperparameters, with the names and defaults of Stable Baselines 2.10."""

from __future__ import annotations

from typing import Any

import attrs

from rlk.settings import UNIT, above, at_least, between, documented, finite, fits_float32, setting
from rlk_on_policy import settings
from rlk_schedules import ScheduleLike


def _holds_a_sequence(config: ACERConfig, attribute: attrs.Attribute[Any], value: int) -> None:
    if config.replay_ratio and value < config.n_steps:
        raise ValueError(
            f"{attribute.name}={value} holds no sequence of n_steps={config.n_steps}: set it to at "
            f"least {config.n_steps}, or replay_ratio=0 to learn without replay"
        )


def _can_be_reached(config: ACERConfig, attribute: attrs.Attribute[Any], value: int) -> None:
    kept = config.buffer_size // config.n_steps * config.n_steps
    if config.replay_ratio and value > kept:
        raise ValueError(
            f"{attribute.name}={value} is never reached, as buffer_size={config.buffer_size} holds "
            f"{kept} steps of each environment: set it to at most {kept}, or leave it out and use "
            "replay_ratio=0"
        )


@documented
@attrs.frozen(kw_only=True)
class ACERConfig:
    """Hyperparameters of ACER."""

    gamma: float = attrs.field(default=0.99, **settings.GAMMA)
    n_steps: int = attrs.field(default=20, **settings.N_STEPS)
    q_coef: float = attrs.field(
        default=0.5, **setting("weight of the loss of Q, at least 0", [at_least(0.0), finite])
    )
    ent_coef: float = attrs.field(default=0.01, **settings.ENT_COEF)
    max_grad_norm: float | None = attrs.field(default=10.0, **settings.MAX_GRAD_NORM)
    learning_rate: ScheduleLike = attrs.field(default=0.0007, **settings.LEARNING_RATE)
    lr_schedule: str = attrs.field(default="linear", **settings.LR_SCHEDULE)
    rprop_alpha: float = attrs.field(
        default=0.99, **setting("decay of RMSProp's mean square, 0 to 1", UNIT)
    )
    rprop_epsilon: float = attrs.field(
        default=1e-5,
        **setting("RMSProp's epsilon, inside the root, above 0", [above(0.0), finite]),
    )
    buffer_size: int = attrs.field(
        default=5000,
        **setting(
            "steps of each environment that the replay keeps, at least n_steps",
            [at_least(1), _holds_a_sequence],
        ),
    )
    replay_ratio: float = attrs.field(
        default=4.0,
        **setting(
            "replayed updates after each collection on average, Poisson distributed, at most 1e18; "
            "0 turns replay off",
            between(0.0, 1e18),
        ),
    )
    replay_start: int = attrs.field(
        default=1000,
        **setting(
            "steps of each environment that are kept before replay begins, if replay_ratio is not "
            "0",
            [at_least(0), _can_be_reached],
        ),
    )
    correction_term: float = attrs.field(
        default=10.0,
        **setting("importance weights are truncated to this, above 0", [above(0.0), fits_float32]),
    )
    trust_region: bool = attrs.field(
        default=True,
        **setting("whether the policy is held near the average of past ones"),
    )
    alpha: float = attrs.field(
        default=0.99,
        **setting(
            "with trust_region, how much of the average policy an update keeps, 0 to 1", UNIT
        ),
    )
    delta: float = attrs.field(
        default=1.0,
        **setting(
            "with trust_region, how fast the KL divergence from the average policy may grow along "
            "the gradient, at least 0",
            at_least(0.0),
        ),
    )
