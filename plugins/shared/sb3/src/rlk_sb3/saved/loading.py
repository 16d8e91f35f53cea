"""Makes a model from a file of Stable-Baselines3 or sb3-contrib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
from gymnasium import spaces

from rlk.records import Array
from rlk_baselines.environments.as_vec_env import as_vec_env
from rlk_baselines.foreign_files.making import made
from rlk_baselines.foreign_files.parameters import Rule, translated
from rlk_baselines.foreign_files.saved_there import SavedThere
from rlk_baselines.refusals import Refused
from rlk_sb3.arguments_of_load import with_room
from rlk_sb3.extractors import refuse_lost_extractor
from rlk_sb3.images import turned_to
from rlk_sb3.monitored import monitored
from rlk_sb3.saved import files
from rlk_sb3.saved.classes import class_in_library, library_of
from rlk_sb3.saved.names import with_numbered_images, with_one_logit

if TYPE_CHECKING:
    from rlk_baselines.common.base_class import BaseRLModel


class FilesOfSB3:
    """The files of a model class of Stable-Baselines3 or sb3-contrib, as `ForeignFiles`.

    Args:
        rules: those for the parameters of its models, from `names`.
    """

    def __init__(self, rules: Sequence[tuple[str, Rule]]) -> None:
        self._rules = rules

    def is_from_there(self, path: Path) -> bool:
        return files.is_from_there(path)

    def load(self, cls: type[BaseRLModel], path: Path, env: Any, given: Mapping[str, Any]) -> Any:
        found, saved = files.read(path)
        _check_class(cls, found, path)
        env = turned_to(given.get("observation_space", saved.observation_space), monitored(env))
        env = env if env is None else as_vec_env(env)
        n_envs = saved.n_envs if env is None else env.num_envs
        saved = self.as_here(saved, given, n_envs)
        if "policy_kwargs" not in given:
            refuse_lost_extractor(found, saved.policy_kwargs)
        if "batch_size" in saved.settings:
            batch_size = given.get("batch_size", saved.settings["batch_size"])
            of_file = {k: v for k, v in saved.settings.items() if k == "buffer_size"}
            given = with_room({**of_file, **given}, batch_size, n_envs)
        if "replay_buffer_class" not in given:
            saved = _without_hindsight(saved)
        model = made(cls, saved, env, given)
        model.load_parameters(self.parameters(saved, model))
        model.num_timesteps = saved.settings.get("num_timesteps", 0)
        return model

    def parameters_in(self, path: Path, model: BaseRLModel) -> Mapping[str, Array]:
        _, saved = files.read(path)
        return self.parameters(saved, model)

    def as_here(self, saved: SavedThere, given: Mapping[str, Any], n_envs: int) -> SavedThere:
        """A saved model without what models of the class do not have here; to be overridden.

        Args:
            saved: the saved model.
            given: the constructor arguments that were passed to `load`.
            n_envs: the number of environments that the model will have.

        Raises:
            Refused: if they do not have its networks.
        """
        return saved

    def parameters(self, saved: SavedThere, model: BaseRLModel) -> dict[str, Array]:
        """The parameters of a saved model, by the names that they have in a model."""
        found = with_numbered_images(saved.parameters, saved.observation_space)
        if isinstance(model.action_space, spaces.MultiBinary):
            found = with_one_logit(found, spaces.flatdim(model.action_space))
        return translated(self._rules, model.agent.get_parameters(), found)


def _check_class(cls: type[BaseRLModel], found: str, path: Path) -> None:
    """Raise Refused for the file of another class than `cls`; `found` is the name of its class."""
    library, (package, name) = library_of(found), class_in_library(cls)
    if (package, name) != (library.package, found):
        raise Refused(
            f"{path} holds a model of {library.title}'s {found}, not of {package}.{name}. Write "
            f"{library.package}.{found}.load({str(path)!r})."
        )


def _without_hindsight(saved: SavedThere) -> SavedThere:
    """A saved model without the settings of a `HerReplayBuffer`, which must be passed again."""
    settings = {k: v for k, v in saved.settings.items() if k != "replay_buffer_kwargs"}
    left_out = tuple(name for name in saved.left_out if name != "replay_buffer_kwargs")
    return attrs.evolve(saved, settings=settings, left_out=left_out)
