"""`generate_expert_traj`: what a model or a function does, as expert trajectories."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces

from rlk.errors import PlanError
from rlk.records import Array
from rlk.spaces import is_image
from rlk_baselines.environments.as_vec_env import as_vec_env


def generate_expert_traj(
    model: Any,
    save_path: str | None = None,
    env: Any = None,
    n_timesteps: int = 0,
    n_episodes: int = 100,
    image_folder: str = "recorded_images",
) -> dict[str, Array]:
    """Train an expert, if that is wanted, and record whole episodes of it.

    Args:
        model: a model, or a function of an observation that returns an action.
        save_path: the file, without `.npz`; None writes none. Images need it.
        env: an environment of gym's interface or Gymnasium's, or a vector; None is the model's.
        n_timesteps: how long a model is trained before.
        n_episodes: how many episodes.
        image_folder: where images are written, beside the file.

    Returns:
        `obs` and `actions` [M, …] (actions [M, 1] of a Discrete space, of images `obs` holds
        paths), `rewards` [M], `episode_starts` bool [M], `episode_returns` [E].

    Raises:
        PlanError: for other spaces than Box and Discrete, or where something is missing.
    """
    is_model = hasattr(model, "predict")
    if env is None:
        env = model.get_env() if is_model else None
    if env is None:
        raise PlanError("there is no environment to record in: pass env.")
    vector = as_vec_env(env)
    for name in ("observation_space", "action_space"):
        if not isinstance(getattr(vector, name), (spaces.Box, spaces.Discrete)):
            raise PlanError(
                f"{name} is {getattr(vector, name)}: only Box and Discrete are recorded."
            )
    shown = is_image(vector.observation_space)
    if shown and save_path is None:
        raise PlanError("images are written into a folder: pass save_path.")
    if is_model and n_timesteps > 0:
        model.learn(n_timesteps)
    actions_of = _of_model(model, vector.num_envs) if is_model else _of_function(model)
    found = _recorded(vector, actions_of, n_episodes)
    if shown:
        folder = Path(str(save_path)).parent / image_folder
        found["obs"] = _written(found["obs"], folder)
    if save_path is not None:
        np.savez(save_path, **found)  # type: ignore[arg-type]
    return found


def _of_model(model: Any, n_envs: int) -> Callable[[Array, Array], Any]:
    """A function of observations and of where episodes have ended; a policy may remember."""
    states: list[Any] = [None]

    def act(observation: Array, dones: Array) -> Any:
        action, states[0] = model.predict(observation, state=states[0], mask=dones)
        return action

    return act


def _of_function(function: Callable[[Any], Any]) -> Callable[[Array, Array], Any]:
    return lambda observation, _: np.stack([np.asarray(function(one)) for one in observation])


def _recorded(vector: Any, act: Callable[[Array, Array], Any], n_episodes: int) -> dict[str, Array]:
    """So many episodes, one after the other, however many environments played them."""
    playing: list[list[tuple[Any, Any, float]]] = [[] for _ in range(vector.num_envs)]
    ended: list[list[tuple[Any, Any, float]]] = []
    observation = vector.reset()
    dones = np.zeros(vector.num_envs, bool)
    while len(ended) < n_episodes:
        actions = act(observation, dones)
        following, rewards, dones, _ = vector.step(actions)
        for i, steps in enumerate(playing):
            steps.append((observation[i], actions[i], float(rewards[i])))
            if dones[i] and len(ended) < n_episodes:
                ended.append(steps)
                playing[i] = []
        observation = following
    steps = [step for episode in ended for step in episode]
    actions = np.array([action for _, action, _ in steps])
    return {
        "actions": actions.reshape(len(steps), -1) if actions.ndim == 1 else actions,
        "obs": np.array([seen for seen, _, _ in steps]),
        "rewards": np.array([reward for _, _, reward in steps]),
        "episode_returns": np.array([sum(step[2] for step in one) for one in ended]),
        "episode_starts": np.array([i == 0 for one in ended for i in range(len(one))]),
    }


def _written(images: Array, folder: Path) -> Array:
    """The paths of images that were written into a folder."""
    from PIL import Image

    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{number}.png" for number in range(len(images))]
    for path, pixels in zip(paths, images, strict=True):
        Image.fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels).save(path)
    return np.array([str(path) for path in paths])
