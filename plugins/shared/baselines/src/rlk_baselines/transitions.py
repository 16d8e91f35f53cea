"""Puts transitions into a model's replay by hand."""

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

#: How far rounding may lead a scaled action out of -1 to 1.
_ROUNDING = 1e-4


class StepOfProgram(Step):
    """A step that a program has put into the replay, which no environment of the model has made."""


def add_transition(
    run: Run, obs_t: Any, action: Any, reward: float, obs_tp1: Any, done: bool, info: Any
) -> None:
    """As `OffPolicyRLModel.replay_buffer_add`.

    Raises:
        PlanError: if the model learns from several environments, of which a transition is of one.
        Refused: for an action that its policy cannot choose.
    """
    if run.n_envs != 1:
        raise PlanError(
            f"replay_buffer_add adds a transition of one environment, and this model learns from "
            f"{run.n_envs}."
        )
    truncated = bool(done) and bool((info or {}).get(TRUNCATED, False))
    final = {0: obs_tp1} if done else {}
    keys = run.plan.info_keys
    extras = {f"info.{key}": np.asarray([info[key]], np.float32) for key in keys}
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
    """What a policy has chosen where the replay gives this action: [D] of a Box, or a number."""
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
