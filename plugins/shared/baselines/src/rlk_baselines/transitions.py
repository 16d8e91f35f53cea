"""Puts transitions into a model's replay by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rlk.errors import PlanError
from rlk.records import Step
from rlk.spaces import map_observation
from rlk_baselines.environments.five_values import TRUNCATED

if TYPE_CHECKING:
    from rlk.running.run import Run


def add_transition(
    run: Run, obs_t: Any, action: Any, reward: float, obs_tp1: Any, done: bool, info: Any
) -> None:
    """As `OffPolicyRLModel.replay_buffer_add`.

    Raises:
        PlanError: if the model learns from several environments, of which a transition is of one.
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
        Step(
            map_observation(_row, obs_t),
            _row(np.reshape(action, (-1,)) if np.ndim(action) else action),
            np.asarray([reward], np.float32),
            np.asarray([bool(done) and not truncated]),
            np.asarray([truncated]),
            map_observation(_row, obs_tp1),
            final,
            extras,
        )
    )


def _row(value: Any) -> Any:
    return np.asarray(value)[None]
