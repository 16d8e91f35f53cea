"""Adds a program's own transitions to a model's replay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from rlk.errors import PlanError
from rlk.records import Array, Step
from rlk.spaces import map_observation
from rlk_baselines.environments.five_values import TRUNCATED
from rlk_baselines.refusals import Refused

if TYPE_CHECKING:
    from rlk.running.run import Run

#: The largest rounding error by which a scaled action may exceed -1 to 1.
_ROUNDING = 1e-4


class StepOfProgram(Step):
    """A step that the program adds to the replay, not one of the model's environments."""


def add_transition(
    run: Run, obs_t: Any, action: Any, reward: float, obs_tp1: Any, done: bool, info: Any
) -> None:
    """As `OffPolicyRLModel.replay_buffer_add`.

    Raises:
        PlanError: if the model learns from several environments.
        Refused: for an action that the policy cannot choose.
    """
    if run.n_envs != 1:
        raise PlanError(
            f"replay_buffer_add adds a transition of one environment, and this model learns from "
            f"{run.n_envs}."
        )
    truncated = bool(done) and bool((info or {}).get(TRUNCATED, False))
    final = {0: obs_tp1} if done else {}
    keys = run.plan.info_keys
    told = info or {}
    extras = {f"info.{key}": np.asarray([told.get(key, np.nan)], np.float32) for key in keys}
    run.storage.add(
        StepOfProgram(
            map_observation(_row, obs_t),
            _row(_chosen(run.action_space, action)),
            np.asarray([reward], np.float32),
            np.asarray([bool(done) and not truncated]),
            np.asarray([truncated]),
            map_observation(_row, obs_tp1),
            final,
            extras,
        )
    )


def _chosen(space: Any, action: Any) -> Array:
    """The policy's action for an action as replays return it: [D] of a Box, or a number from 0.

    Raises:
        Refused: if the policy cannot choose it.
    """
    values: Array = np.asarray(action)
    chosen: Array
    if isinstance(space, spaces.Discrete):
        chosen = values.reshape(()) - int(space.start)
        is_one = 0 <= chosen < space.n
        expected = f"of {space}"
    else:
        chosen = values.reshape(-1)
        is_one = bool((np.abs(chosen) <= 1 + _ROUNDING).all())
        expected = (
            "from -1 to 1, as the policy chooses them: write scale_action(model.action_space, "
            "action) of rlk_baselines.common.math_util for one of the environment"
        )
    if not is_one:
        raise Refused(f"actions in the replay are {expected}. Got {action!r}.")
    return chosen


def _row(value: Any) -> Any:
    return np.asarray(value)[None]
