"""Refuses, while planning, returns that look further than the replay remembers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk.errors import PlanError
from rlk_replay.config import steps_per_env

if TYPE_CHECKING:
    from rlk.planning.plan import Plan
    from rlk_n_step.config import NStepConfig


def check(config: NStepConfig, plan: Plan) -> None:
    """Check that the replay keeps as many steps of each environment as a return sums.

    A storage that has no `buffer_size` decides for itself what it keeps.

    Raises:
        PlanError: saying what to type.
    """
    buffer_size: int | None = getattr(plan.storages[0].config, "buffer_size", None)
    if buffer_size is None:
        return
    kept = steps_per_env(buffer_size, plan.n_envs)
    if config.n_steps > kept:
        raise PlanError(
            f"storage 'n-step' (rlk-n-step): n_steps={config.n_steps}, but with "
            f"buffer_size={buffer_size} and n_envs={plan.n_envs} the replay keeps {kept} steps of "
            f"each environment. Set n-step.n_steps to {kept} or less, or buffer_size to "
            f"{config.n_steps * plan.n_envs} or more."
        )
