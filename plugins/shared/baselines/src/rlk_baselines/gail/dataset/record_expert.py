"""`generate_expert_traj` for models of this package, in environments with gym's interface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlk.errors import PlanError
from rlk.records import Array
from rlk_baselines.environments.as_vec_env import as_vec_env
from rlk_baselines.refusals import refused
from rlk_expert_data.generate import act_of, check_recording, record_into
from rlk_expert_data.player import Ending, Endings, Player


@refused()
def generate_expert_traj(
    model: Any,
    save_path: str | None = None,
    env: Any = None,
    n_timesteps: int = 0,
    n_episodes: int = 100,
    image_folder: str = "recorded_images",
) -> dict[str, Array]:
    """Record whole episodes of an expert, which is first trained if `n_timesteps` is above 0.

    Arguments and result are those of `rlk_expert_data.generate_expert_traj`, but for three things.
    None as `env` is the model's own environment in its wrappers: a `VecNormalize` normalises what
    is recorded, and its statistics include it. A model acts by the default of its `predict`, so
    those of on-policy algorithms sample. A function gets one observation, or the whole batch if
    `env` is a vector of Stable Baselines; `env` may also have the interface of gym or Gymnasium.

    Raises:
        ValueError: if a space is not recorded, or there is no environment. All is checked before
            the expert is trained.
    """
    is_model = hasattr(model, "predict")
    if env is None:
        env = model.get_env() if is_model else None
    if env is None:
        raise PlanError("there is no environment to record in: pass env.")
    vector = as_vec_env(env)

    def step(actions: Any) -> tuple[Any, Array, Endings]:
        observation, rewards, dones, infos = vector.step(actions)
        return observation, rewards, {i: _ending(infos[i]) for i in np.flatnonzero(dones).tolist()}

    player = Player(
        vector.num_envs, vector.observation_space, vector.action_space, vector.reset, step
    )
    if is_model and n_timesteps > 0:
        check_recording(player, save_path, n_episodes)
        model.learn(n_timesteps)
    gets_batches = not is_model and vector is env
    act = (lambda observation, _: np.asarray(model(observation))) if gets_batches else act_of(model)
    return record_into(player, act, save_path, n_episodes, image_folder)


def _ending(info: Mapping[str, Any]) -> Ending | None:
    """How an episode ended, from its last info; None if that does not tell."""
    if "terminal_observation" not in info:
        return None
    return Ending(info["terminal_observation"], not info.get("TimeLimit.truncated", False))
