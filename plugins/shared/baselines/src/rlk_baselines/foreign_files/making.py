"""Makes a model with the settings of a file, but not yet with its parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from rlk.program_warnings import warn_program
from rlk_baselines.arguments import Argument
from rlk_baselines.environments.as_vec_env import AwaitedVecEnv
from rlk_baselines.foreign_files.saved_there import SavedThere
from rlk_baselines.refusals import Refused
from rlk_baselines.saved_models.custom_objects import SPACES

if TYPE_CHECKING:
    from rlk_baselines.common.base_class import BaseRLModel


class LeftOut(UserWarning):
    """The warning about functions and objects in a file, which the loaded model does not have.

    Args:
        path: the file.
        names: the constructor arguments that they were.
    """

    def __init__(self, path: Path, names: list[str]) -> None:
        self.names = tuple(names)
        again = ", ".join(f"{name}=…" for name in names)
        super().__init__(
            f"{path}: {', '.join(names)} are functions or objects, which are not read. They have "
            f"their defaults now; to learn on, pass what matters again: load(…, {again})."
        )


def made(
    cls: type[BaseRLModel], saved: SavedThere, env: Any, given: Mapping[str, Any]
) -> BaseRLModel:
    """A model with the settings of a file, but newly initialised parameters."""
    spaces = {name: given[name] for name in SPACES if name in given}
    given = {name: value for name, value in given.items() if name not in SPACES}
    saved = attrs.evolve(saved, **spaces)
    settings = {name: saved.settings[name] for name in cls.arguments if name in saved.settings}
    settings = {name: _as_tuple(value) for name, value in settings.items()}
    settings.pop("tensorboard_log", None)  # a file must not decide where something is written
    if not str(settings.get("ent_coef", "auto")).startswith("auto"):
        settings.pop("target_entropy", None)  # saved even if ent_coef is fixed and it has no effect
    settings |= {"policy": saved.policy, "policy_kwargs": dict(saved.policy_kwargs)}
    settings = {**settings, "env": _environment(saved, env), **given}
    if settings["policy"] is None:
        raise Refused(
            f"the policy in {saved.path} is a class of a program, which is not read: pass it "
            f"again, {cls.__name__}.load({str(saved.path)!r}, policy=…)."
        )
    only = {one.name: one for one in cls.arguments.values() if one.only and one.name not in given}
    for text in _replaced(only, settings, saved.left_out):
        warn_program(f"{saved.path}: {text}")
    if saved.other_optimiser is not None:
        warn_program(
            f"{saved.path}: its optimiser was {saved.other_optimiser}, which {cls.__name__} does "
            "not have here: if the loaded model learns on, it uses its usual one."
        )
    not_lost = {*given, *only}
    lost = [name for name in saved.left_out if name in cls.arguments and name not in not_lost]
    if lost:
        warn_program(LeftOut(saved.path, lost))
    return cls(**settings)


def _environment(saved: SavedThere, env: Any) -> Any:
    if env is not None:
        return env
    if saved.observation_space is None or saved.action_space is None:
        raise Refused(f"the spaces in {saved.path} cannot be read: pass an environment, env=….")
    return AwaitedVecEnv(saved.n_envs, saved.observation_space, saved.action_space, None)


def _as_tuple(value: Any) -> Any:
    """Convert a list back to a tuple, which JSON turned into a list."""
    return tuple(value) if isinstance(value, list) else value


def _replaced(
    only: Mapping[str, Argument], settings: dict[str, Any], left_out: Iterable[str]
) -> list[str]:
    """Remove settings that have only one supported value here.

    Args:
        only: these settings.
        settings: those in the file, which are changed.
        left_out: the names of settings in the file that are functions or objects.

    Returns:
        A sentence about each one that has another value in the file.
    """
    found = {key: repr(settings.pop(key, None) or one.default) for key, one in only.items()}
    found |= {key: "an object" for key in left_out if key in only}
    here = {key: repr(one.default) for key, one in only.items()}
    return [
        f"{key} is {there} in the file, and {here[key]} in the loaded model. {only[key].only}"
        for key, there in found.items()
        if there != here[key]
    ]
