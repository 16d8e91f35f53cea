"""Settings of stand-in algorithms. Like every config's module, this one imports no torch."""

from __future__ import annotations

from collections.abc import Callable

import attrs

from rlk.settings import UNIT, at_least, setting


@attrs.frozen(kw_only=True)
class StandInConfig:
    """Settings of the stand-in algorithm."""

    learning_rate: float | Callable[[float], float] = attrs.field(
        default=0.05, **setting("step size; may be scheduled")
    )
    gamma: float = attrs.field(
        default=0.5,
        **setting("discount per step, 0 to 1", UNIT),
    )
    n_steps: int = attrs.field(default=4, **setting("vector steps per collection", at_least(1)))
    batch_size: int = attrs.field(default=8, **setting("transitions per update", at_least(1)))


@attrs.frozen(kw_only=True)
class OffPolicyStandInConfig(StandInConfig):
    """Settings of a stand-in that has a replay and a target network."""

    learning_starts: int = attrs.field(
        default=0, **setting("timesteps before the first update", at_least(0))
    )
    train_freq: int | str | tuple[int, str] = attrs.field(
        default=1, **setting("vector steps between updates, or episodes, as '1 episode'")
    )
    gradient_steps: int = attrs.field(
        default=1, **setting("updates after these; -1 is one for every timestep")
    )
    tau: float = attrs.field(
        default=0.5,
        **setting(
            "how far the target moves towards the policy at an update, 0 to 1",
            UNIT,
        ),
    )
