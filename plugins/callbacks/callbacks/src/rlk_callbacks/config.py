"""Settings of the callbacks in this distribution."""

from __future__ import annotations

from typing import Any

import attrs

from rlk.settings import finite

_AT_LEAST_1 = attrs.validators.ge(1)


def _at_least_1_or_none(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
    if value is not None and value < 1:
        raise ValueError(f"{attribute.name} must be at least 1, or none, got {value!r}")


@attrs.frozen(kw_only=True)
class CheckpointConfig:
    """Settings of `checkpoint`."""

    every: int | None = attrs.field(
        default=None,
        validator=_at_least_1_or_none,
        metadata={
            "help": "timesteps between two checkpoints, at least 1; none saves at the end only"
        },
    )
    keep: int | None = attrs.field(
        default=3,
        validator=_at_least_1_or_none,
        metadata={
            "help": "how many of the newest checkpoints are kept, at least 1; none keeps all"
        },
    )
    replay: bool = attrs.field(
        default=True,
        metadata={
            "help": "whether checkpoints hold the replay; without it they are small, and a resumed "
            "run fills it anew"
        },
    )


@attrs.frozen(kw_only=True)
class EvaluationConfig:
    """Settings of `evaluation`; in `EvalCallback` two are `eval_freq` and `n_eval_episodes`."""

    every: int = attrs.field(
        default=10_000,
        validator=_AT_LEAST_1,
        metadata={
            "help": "timesteps between two evaluations, at least 1 (eval_freq, which counts calls)"
        },
    )
    episodes: int = attrs.field(
        default=5,
        validator=_AT_LEAST_1,
        metadata={"help": "whole episodes in one evaluation, at least 1 (n_eval_episodes)"},
    )
    steps: int = attrs.field(
        default=1,
        validator=_AT_LEAST_1,
        metadata={
            "help": "smallest number of steps in an evaluation, at least 1; further whole "
            "episodes are played to reach it"
        },
    )
    n_envs: int = attrs.field(
        default=1,
        validator=_AT_LEAST_1,
        metadata={"help": "how many environments play episodes at the same time, at least 1"},
    )
    deterministic: bool = attrs.field(
        default=True, metadata={"help": "whether actions are the policy's mode instead of samples"}
    )
    seed: int | None = attrs.field(
        default=None,
        validator=attrs.validators.optional(attrs.validators.ge(0)),
        metadata={"help": "seed of all evaluations, at least 0; none derives one from the run's"},
    )
    stop_at: float | None = attrs.field(
        default=None,
        validator=attrs.validators.optional(finite),
        metadata={"help": "a mean return at which training stops (StopTrainingOnRewardThreshold)"},
    )
    env: Any | None = attrs.field(
        default=None,
        metadata={
            "help": "another environment to evaluate in, of the same spaces, as --env takes it; "
            "none means one like that of training",
            "environment": True,
        },
    )
    render: bool = attrs.field(
        default=False, metadata={"help": "whether a window shows the evaluations"}
    )
    at_end: bool = attrs.field(
        default=True,
        metadata={"help": "whether the final policy is evaluated as well"},
    )
