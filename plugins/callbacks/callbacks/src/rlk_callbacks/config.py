"""Settings of the callbacks in this distribution."""

from __future__ import annotations

from typing import Any

import attrs

from rlk.settings import documented, finite, setting

_AT_LEAST_1 = attrs.validators.ge(1)


def _at_least_1_or_none(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
    if value is not None and value < 1:
        raise ValueError(f"{attribute.name} must be at least 1, or none, got {value!r}")


@documented
@attrs.frozen(kw_only=True)
class CheckpointConfig:
    """Settings of `checkpoint`."""

    every: int | None = attrs.field(
        default=None,
        **setting(
            "timesteps between two checkpoints, at least 1; none saves at the start and the end",
            _at_least_1_or_none,
        ),
    )
    keep: int | None = attrs.field(
        default=3,
        **setting(
            "how many of the newest checkpoints are kept, at least 1; none keeps all",
            _at_least_1_or_none,
        ),
    )
    replay: bool = attrs.field(
        default=True,
        **setting(
            "whether checkpoints hold the replay; without it they are small, and a resumed "
            "run fills it anew"
        ),
    )


@documented
@attrs.frozen(kw_only=True)
class EvaluationConfig:
    """Settings of `evaluation`; in `EvalCallback` two are `eval_freq` and `n_eval_episodes`."""

    every: int = attrs.field(
        default=10_000,
        **setting(
            "timesteps between two evaluations, at least 1 (eval_freq, which counts calls)",
            _AT_LEAST_1,
        ),
    )
    episodes: int = attrs.field(
        default=5,
        **setting("whole episodes in one evaluation, at least 1 (n_eval_episodes)", _AT_LEAST_1),
    )
    steps: int = attrs.field(
        default=1,
        **setting(
            "smallest number of steps in an evaluation, at least 1; further whole "
            "episodes are played to reach it",
            _AT_LEAST_1,
        ),
    )
    n_envs: int = attrs.field(
        default=1,
        **setting("how many environments play episodes at the same time, at least 1", _AT_LEAST_1),
    )
    deterministic: bool = attrs.field(
        default=True, **setting("whether actions are the policy's mode instead of samples")
    )
    seed: int | None = attrs.field(
        default=None,
        **setting(
            "seed of all evaluations, at least 0; none derives one from the run's",
            attrs.validators.optional(attrs.validators.ge(0)),
        ),
    )
    same_episodes: bool = attrs.field(
        default=False,
        **setting("whether every evaluation plays the same episodes, instead of others each time"),
    )
    stop_at: float | None = attrs.field(
        default=None,
        **setting(
            "a mean return at which training stops (StopTrainingOnRewardThreshold)",
            attrs.validators.optional(finite),
        ),
    )
    env: Any | None = attrs.field(
        default=None,
        **setting(
            "another environment to evaluate in, of the same spaces, as --env takes it; "
            "none means one like that of training",
            environment=True,
        ),
    )
    render: bool = attrs.field(default=False, **setting("whether a window shows the evaluations"))
    at_end: bool = attrs.field(
        default=True, **setting("whether the final policy is evaluated as well")
    )
