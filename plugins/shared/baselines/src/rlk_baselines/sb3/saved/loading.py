"""Makes a model from a file of Stable-Baselines3 or sb3-contrib."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
from gymnasium import spaces

from rlk.records import Array
from rlk_baselines.arguments import is_finite
from rlk_baselines.environments.as_vec_env import as_vec_env
from rlk_baselines.foreign_files.making import made
from rlk_baselines.foreign_files.parameters import translated
from rlk_baselines.foreign_files.saved_there import SavedThere
from rlk_baselines.refusals import Refused
from rlk_baselines.sb3.arguments_of_load import with_room
from rlk_baselines.sb3.extractors import refuse_lost_extractor
from rlk_baselines.sb3.images import turned_to
from rlk_baselines.sb3.monitored import monitored
from rlk_baselines.sb3.saved import files, recurrent
from rlk_baselines.sb3.saved.classes import library_of
from rlk_baselines.sb3.saved.names import RULES, with_numbered_images, with_single_logits

if TYPE_CHECKING:
    from rlk_baselines.common.base_class import BaseRLModel


def load(cls: type[BaseRLModel], path: Path, env: Any, given: Mapping[str, Any]) -> Any:
    """As `rlk_baselines.tensorflow.loading.load`."""
    found, saved = files.read(path)
    library = library_of(found)
    if cls.__name__ != found or not cls.__module__.startswith(f"{library.package}."):
        raise Refused(
            f"{path} holds a model of {library.title}'s {found}, not of "
            f"{cls.__module__.rpartition('.')[0]}.{cls.__name__}. Write {library.package}.{found}"
            f".load({str(path)!r})."
        )
    if "policy_kwargs" not in given:
        refuse_lost_extractor(found, saved.policy_kwargs)
    env = turned_to(given.get("observation_space", saved.observation_space), monitored(env))
    if "batch_size" in saved.settings:
        env = env if env is None else as_vec_env(env)
        n_envs = saved.n_envs if env is None else env.num_envs
        batch_size = given.get("batch_size", saved.settings["batch_size"])
        of_file = {k: v for k, v in saved.settings.items() if k == "buffer_size"}
        given = with_room({**of_file, **given}, batch_size, n_envs)
        if found == "RecurrentPPO":
            saved = _as_recurrent_here(saved, given, n_envs)
    if "replay_buffer_class" not in given:
        saved = _without_hindsight(saved)
    model = made(cls, saved, env, given)
    model.load_parameters(parameters(model, found, saved))
    model.num_timesteps = saved.settings.get("num_timesteps", 0)
    return model


def _as_recurrent_here(saved: SavedThere, given: Mapping[str, Any], n_envs: int) -> SavedThere:
    """A saved RecurrentPPO with what the recurrent policies here have."""
    if "policy_kwargs" not in given:
        saved = recurrent.without_dropout(saved)
    n_steps = given.get("n_steps", saved.settings.get("n_steps"))
    sizes = (saved.settings["batch_size"], n_steps)
    if "batch_size" in given or not all(map(is_finite, sizes)):
        return saved
    return recurrent.with_fitting_batch(saved, int(n_steps), n_envs)


def _without_hindsight(saved: SavedThere) -> SavedThere:
    """A saved model without the settings of a `HerReplayBuffer`, which must be passed again."""
    settings = {k: v for k, v in saved.settings.items() if k != "replay_buffer_kwargs"}
    left_out = tuple(name for name in saved.left_out if name != "replay_buffer_kwargs")
    return attrs.evolve(saved, settings=settings, left_out=left_out)


def parameters(model: BaseRLModel, kind: str, saved: SavedThere) -> dict[str, Array]:
    """The parameters in a file, by their names in a model; `kind` is the name of its class."""
    found = with_numbered_images(saved.parameters, saved.observation_space)
    if kind == "MaskablePPO" and isinstance(model.action_space, spaces.MultiBinary):
        found = with_single_logits(found)
    return translated(RULES[kind], model.agent.get_parameters(), found)
