"""`generate_expert_traj`: records the trajectories of an agent or a function into a file."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from rlk.errors import PlanError
from rlk.files import replacing, users_path
from rlk.records import Array
from rlk_expert_data.arguments import checked_count
from rlk_expert_data.dict_observations import one_by_one
from rlk_expert_data.images import OBSERVATIONS, can_be_written, located, writing_images
from rlk_expert_data.player import Player, player_like_agents, player_of
from rlk_expert_data.recording import Act, check_spaces, record


def generate_expert_traj(
    model: Any,
    save_path: str | os.PathLike[str] | None = None,
    env: Any = None,
    n_timesteps: int = 0,
    n_episodes: int = 100,
    image_folder: str = "recorded_images",
    *,
    deterministic: bool = True,
    seed: int | None = None,
) -> dict[str, Array]:
    """Train an expert, if requested, and record whole episodes of it.

    Args:
        model: an agent, or a function of one observation that returns one action.
        save_path: the file, without `.npz`; None writes no file.
        env: a Gymnasium environment, anything that `--env` takes, or a vector environment with
            same-step restarts; None makes those of the agent again, as for an evaluation: rewards
            are the environment's own, and the agent's statistics do not change.
        n_timesteps: how long the agent is trained before recording.
        n_episodes: number of episodes, at least 1.
        image_folder: the folder for images, beside the file.
        deterministic: whether an agent takes its most likely action instead of a sample.
        seed: of the environment's first reset; None leaves its random generator unchanged, and
            in the agent's environments derives it from the agent's seed and timesteps.

    Returns:
        `obs` and `actions` [M, …] ([M, 1] for a Discrete space; for images in files `obs` holds the
        paths; for a Dict it is structured), `rewards` [M], `episode_starts` bool [M],
        `episode_returns` [E], and of the ends `episode_final_obs` [E, …] and `episode_terminated`
        bool [E] (see `record`).

    Raises:
        PlanError: for other spaces than Box and Discrete, and for observations a Dict of arrays,
            or if a needed argument is missing. All is checked before the agent is trained.
    """
    checked_count("n_episodes", n_episodes)
    n_timesteps = checked_count("n_timesteps", n_timesteps, 0)
    is_agent = hasattr(model, "predict")
    if env is None and not is_agent:
        raise PlanError("there is no environment to record in: pass env.")
    if is_agent and n_timesteps > 0:
        with closing(player_of(model.get_env() if env is None else env, seed)) as one:
            check_recording(one, save_path, n_episodes)
        model.learn(n_timesteps)
    act = act_of(model, deterministic=deterministic)
    with closing(_player(model, env, seed)) as player:
        return record_into(player, act, save_path, n_episodes, image_folder)


def _player(model: Any, env: Any, seed: int | None) -> Player:
    """The player for `env`, or for environments like those of an agent."""
    if env is not None:
        return player_of(env, seed)
    from rlk.agent import Agent  # not at the top: it imports torch

    if isinstance(model, Agent):
        return player_like_agents(model, seed)
    return player_of(model.get_env(), seed)


def check_recording(
    player: Player, save_path: str | os.PathLike[str] | None, n_episodes: int
) -> None:
    """Check what can be known before an expert is trained; arguments as above.

    Raises:
        PlanError: as `record_into` does.
    """
    if save_path is not None:
        _file_at(save_path)
    check_spaces(player)
    checked_count("n_episodes", n_episodes)


def record_into(
    player: Player,
    act: Act,
    save_path: str | os.PathLike[str] | None,
    n_episodes: int,
    image_folder: str,
) -> dict[str, Array]:
    """Record episodes and write them, with images in a folder; arguments as above.

    Raises:
        PlanError: as `record` does, and if `save_path` is a folder.
    """
    path = None if save_path is None else _file_at(save_path)
    found = record(player, act, n_episodes)
    if path is None:
        return found
    path.parent.mkdir(parents=True, exist_ok=True)
    if not can_be_written(player.observation_space):
        _write(path, found)
        return found
    images = {key: found[key] for key in OBSERVATIONS if key in found}
    with writing_images(images, Path(image_folder), path) as paths:
        _write(path, {**found, **paths})
    return {**found, **{key: located(each, path.parent) for key, each in paths.items()}}


def _write(path: Path, arrays: dict[str, Array]) -> None:
    with replacing(path) as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]


def _file_at(save_path: str | os.PathLike[str]) -> Path:
    """The file to write, with `.npz`."""
    path = users_path(save_path)
    if not path.name:
        raise PlanError(f"save_path={os.fspath(save_path)!r} is a folder: name a file in it.")
    return path if path.suffix == ".npz" else path.with_name(f"{path.name}.npz")


def act_of(model: Any, **keywords: Any) -> Act:
    """How a model or a function acts in several environments; keeps the state of recurrent ones.

    Args:
        model: the model, or a function of one observation.
        keywords: further arguments for the `predict` of a model.
    """
    if not hasattr(model, "predict"):
        return _of_function(model)
    states: list[Any] = [None]

    def act(observation: Any, begun: Array) -> Any:
        action, states[0] = model.predict(observation, state=states[0], mask=begun, **keywords)
        return action

    return act


def _of_function(function: Callable[[Any], Any]) -> Act:
    return lambda observation, _: np.stack(
        [np.asarray(function(one)) for one in one_by_one(observation)]
    )
