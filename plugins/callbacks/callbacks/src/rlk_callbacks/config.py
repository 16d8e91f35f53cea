"""Settings of the callbacks in this distribution."""

from __future__ import annotations

from typing import Any

import attrs

from rlk.settings import at_least, documented, finite, setting


@documented
@attrs.frozen(kw_only=True)
class CheckpointConfig:
    """Settings of `checkpoint`."""

    every: int | None = attrs.field(
        default=None,
        **setting(
            "timesteps between two checkpoints, at least 1; none saves at the start and the end",
            at_least(1, or_none=True),
        ),
    )
    keep: int | None = attrs.field(
        default=3,
        **setting(
            "how many of the newest checkpoints are kept, at least 1; none keeps all",
            at_least(1, or_none=True),
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
            at_least(1),
        ),
    )
    episodes: int = attrs.field(
        default=5,
        **setting("whole episodes in one evaluation, at least 1 (n_eval_episodes)", at_least(1)),
    )
    steps: int = attrs.field(
        default=1,
        **setting(
            "smallest number of steps in an evaluation, at least 1; further whole "
            "episodes are played to reach it",
            at_least(1),
        ),
    )
    n_envs: int = attrs.field(
        default=1,
        **setting("how many environments play episodes at the same time, at least 1", at_least(1)),
    )
    deterministic: bool = attrs.field(
        default=True, **setting("whether actions are the policy's mode instead of samples")
    )
    seed: int | None = attrs.field(
        default=None,
        **setting(
            "seed of all evaluations, at least 0; none derives one from the run's",
            at_least(0, or_none=True),
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
    env_kwargs: dict[str, Any] | None = attrs.field(
        default=None,
        **setting(
            "keyword arguments of the environment to evaluate in, {gravity=9.0}; none means those "
            "of training, {} means no keywords",
            environment=True,
        ),
    )
    render: bool = attrs.field(default=False, **setting("whether a window shows the evaluations"))
    at_end: bool = attrs.field(
        default=True, **setting("whether the final policy is evaluated as well")
    )
