"""All environments in this process, one after the other: the fastest backend for cheap steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gymnasium as gym

from rlk_vector_environments.group_vec_env import GroupVecEnv


class DummyVecEnv(GroupVecEnv):
    """A Gymnasium vector environment with same-step restarts: a loop over its environments.

    It is the `GroupVecEnv` of one group; `SameStepVecEnv` has the details of what `step` returns.

    Args:
        env_fns: functions without arguments, each of which returns a new environment.
        config: there are no settings; the kernel passes None.
        info_keys: keys of numbers in infos that are kept: `infos["kept"]` has them after every
            step, as `info.KEY` -> float32 [N]; where an episode ended, those of its last step. With
            None, all infos are gathered instead, as Gymnasium does; where an episode ended, those
            of the reset.

    Raises:
        EnvironmentFailed: if an environment cannot be made, or their spaces differ; in a step, if
            an environment raises an exception, or a kept info is no number.
        rlk.errors.PlanError: for a space that cannot be stored in arrays.
    """

    def __init__(
        self,
        env_fns: Sequence[Callable[[], gym.Env[Any, Any]]],
        *,
        config: None = None,
        info_keys: Sequence[str] | None = (),
    ) -> None:
        super().__init__(env_fns, info_keys=info_keys)
