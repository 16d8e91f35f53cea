"""DQN's hyperparameters, with the names and defaults of Stable Baselines 2.10.

Three are not parameters of its class: `dueling`, which it has in `policy_kwargs`, `gradient_steps`,
which is Stable-Baselines3's, and `max_grad_norm`, which it fixes at 10.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
from attrs import validators as v

from rlk_schedules import is_schedule

_UNIT = [v.ge(0.0), v.le(1.0)]


def _not_zero(_: object, attribute: attrs.Attribute[Any], value: int) -> None:
    if value < -1 or value == 0:
        raise ValueError(
            f"{attribute.name} must be at least 1, or -1 for one update per timestep, got {value}"
        )


def _above_zero_or_none(_: object, attribute: attrs.Attribute[Any], value: float | None) -> None:
    if value is not None and value <= 0:
        raise ValueError(f"{attribute.name} must be above 0, or none, got {value!r}")


@attrs.frozen(kw_only=True)
class DQNConfig:
    """Hyperparameters of DQN. A timestep is one step of one environment."""

    gamma: float = attrs.field(
        default=0.99, validator=_UNIT, metadata={"help": "discount per step, 0 to 1"}
    )
    learning_rate: float | str | Callable[[float], float] = attrs.field(
        default=0.0005,
        validator=is_schedule,
        metadata={
            "help": "Adam's step size: a number, lin_0.001, or a callable of what remains of the "
            "run, 1 to 0"
        },
    )
    buffer_size: int = attrs.field(
        default=50_000, validator=v.ge(1), metadata={"help": "transitions that the replay holds"}
    )
    exploration_fraction: float = attrs.field(
        default=0.1,
        validator=_UNIT,
        metadata={"help": "part of the run over which exploration falls, 0 to 1"},
    )
    exploration_final_eps: float = attrs.field(
        default=0.02,
        validator=_UNIT,
        metadata={"help": "final probability of a random action, 0 to 1"},
    )
    exploration_initial_eps: float = attrs.field(
        default=1.0,
        validator=_UNIT,
        metadata={"help": "initial probability of a random action, 0 to 1"},
    )
    train_freq: int = attrs.field(
        default=1, validator=v.ge(1), metadata={"help": "vector steps between updates"}
    )
    batch_size: int = attrs.field(
        default=32, validator=v.ge(1), metadata={"help": "transitions per update"}
    )
    double_q: bool = attrs.field(
        default=True,
        metadata={"help": "let the online network choose the action that the target values"},
    )
    learning_starts: int = attrs.field(
        default=1000,
        validator=v.ge(0),
        metadata={"help": "timesteps collected before the first update"},
    )
    target_network_update_freq: int = attrs.field(
        default=500,
        validator=v.ge(1),
        metadata={"help": "timesteps between copies to the target network"},
    )
    prioritized_replay: bool = attrs.field(
        default=False,
        metadata={"help": "sample by priority; the same as --plugin prioritized-replay"},
    )
    prioritized_replay_alpha: float = attrs.field(
        default=0.6, validator=_UNIT, metadata={"help": "how much priorities count, 0 (not) to 1"}
    )
    prioritized_replay_beta0: float = attrs.field(
        default=0.4,
        validator=_UNIT,
        metadata={"help": "initial correction of the bias, 0 to 1 (full)"},
    )
    prioritized_replay_beta_iters: int | None = attrs.field(
        default=None,
        validator=v.optional(v.ge(1)),
        metadata={"help": "timesteps until the correction is full; none is the whole run"},
    )
    prioritized_replay_eps: float = attrs.field(
        default=1e-6,
        validator=v.gt(0.0),
        metadata={"help": "added to TD errors, so that none is never drawn"},
    )
    param_noise: bool = attrs.field(
        default=False,
        metadata={
            "help": "explore by noise on parameters; the same as --plugin param-noise, if that is "
            "installed"
        },
    )
    dueling: bool = attrs.field(
        default=True, metadata={"help": "separate streams for the state's value and the advantages"}
    )
    gradient_steps: int = attrs.field(
        default=1,
        validator=_not_zero,
        metadata={"help": "updates every train_freq; -1 is one per timestep"},
    )
    max_grad_norm: float | None = attrs.field(
        default=10.0,
        validator=_above_zero_or_none,
        metadata={"help": "the gradient's norm is clipped to this; none for no clipping"},
    )
