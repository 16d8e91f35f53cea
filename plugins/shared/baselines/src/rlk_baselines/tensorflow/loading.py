"""Makes a model from a file of Stable Baselines 2.10."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

import rlk_baselines
from rlk.program_warnings import warn_program
from rlk.records import Array
from rlk_baselines.arguments import LAST, Argument
from rlk_baselines.custom_objects import SPACES
from rlk_baselines.environments.as_vec_env import AwaitedVecEnv
from rlk_baselines.refusals import Refused
from rlk_baselines.tensorflow import files, names

if TYPE_CHECKING:
    from rlk_baselines.common.base_class import BaseRLModel

#: The classes whose files can be loaded.
CLASSES = ("A2C", "ACER", "ACKTR", "DDPG", "DQN", "GAIL", "PPO1", "PPO2", "SAC", "TD3", "TRPO")
#: Algorithm -> prefixes of parameters that files do not have, and what they are. DDPG's critic gets
#: the action after its first layer in Stable Baselines, and with the observation here. GAIL's
#: algorithm is TRPO.
NEW = {
    "ddpg": (("model/qf/", "target/qf/", "return_moments"), "the critic of DDPG"),
    "trpo": (("adversary/",), "the discriminator of GAIL"),
}


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


def load(cls: type[BaseRLModel], path: Path, env: Any, given: Mapping[str, Any]) -> Any:
    """Make a model with the parameters and settings of a file.

    Args:
        cls: the class of the model.
        path: the file.
        env: the environment to learn in; a model that only acts needs none.
        given: constructor arguments with new values, and those that the file does not hold.

    Raises:
        ValueError: if the file holds a model of another class, or something is missing.
        BadFile: if the file is damaged.
    """
    saved = files.read(path)
    _check_class(cls, saved)
    model = made(cls, saved, env, given)
    found = parameters(model, saved)
    begins_anew = model.get_parameters().keys() > found.keys()
    if begins_anew:
        warn_program(f"{path}: {NEW[cls.algo][1]} begins anew.")
    model.load_parameters(found, exact_match=not begins_anew)
    return model


def made(
    cls: type[BaseRLModel], saved: files.SavedThere, env: Any, given: Mapping[str, Any]
) -> BaseRLModel:
    """A model with the settings of a file, but newly initialised parameters."""
    spaces = {name: given[name] for name in SPACES if name in given}
    given = {name: value for name, value in given.items() if name not in SPACES}
    saved = attrs.evolve(saved, **spaces)
    settings = {name: saved.settings[name] for name in cls.names if name in saved.settings}
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
    only = {one.name: one for one in cls.arguments if one.only and one.name not in given}
    for text in (*_replaced(only, settings, saved.left_out), *_other_optimiser(cls, saved)):
        warn_program(f"{saved.path}: {text}")
    not_lost = {*given, *only}
    lost = [name for name in saved.left_out if name in cls.names and name not in not_lost]
    if lost:
        warn_program(LeftOut(saved.path, lost))
    return cls(**settings)


def parameters(model: BaseRLModel, saved: files.SavedThere) -> dict[str, Array]:
    """The parameters in a file, by their names in a model, without those in `NEW`."""
    new, _ = NEW.get(model.algo, ((), ""))
    now = model.get_parameters()
    wanted = {name: value for name, value in now.items() if not name.startswith(new)}
    return names.translated(names.RULES[model.algo], wanted, saved.parameters)


def _check_class(cls: type[BaseRLModel], saved: files.SavedThere) -> None:
    """Raise Refused for the file of another class, of HER, or with statistics of observations."""
    if "model_class" in {*saved.settings, *saved.left_out}:
        raise Refused(f"{saved.path} is a model of HER in Stable Baselines, which is not loaded.")
    found = classes_of(saved)
    if not any(issubclass(cls, getattr(rlk_baselines, one)) for one in found):
        raise Refused(
            f"{saved.path} holds a model of {' or '.join(found)}, not of {cls.__name__}. Write "
            f"rlk_baselines.{found[0]}.load({str(saved.path)!r})."
        )
    if any("obs_rms/" in name for name in saved.parameters):
        raise Refused(
            f"{saved.path}: its observations are normalised by statistics in TensorFlow's graph, "
            "which are not loaded."
        )


def classes_of(saved: files.SavedThere) -> tuple[str, ...]:
    """The name of the class whose arguments best match the settings in a file.

    Files do not hold the class. There are several names if several classes match equally well. TRPO
    also saves `using_gail`, which tells it from GAIL.
    """
    if "using_gail" in saved.settings:
        return ("GAIL",) if saved.settings["using_gail"] else ("TRPO",)
    last = {one.name for one in LAST}
    own = {name: {*getattr(rlk_baselines, name).names} - last for name in CLASSES}
    there = {*saved.settings, *saved.left_out} & set().union(*own.values())
    like = {name: len(names & there) / len(names | there) for name, names in own.items()}
    return tuple(name for name in CLASSES if like[name] == max(like.values()))


def _environment(saved: files.SavedThere, env: Any) -> Any:
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


def _other_optimiser(cls: type[BaseRLModel], saved: files.SavedThere) -> list[str]:
    """A sentence about the optimiser in the file, if the loaded model has another one."""
    if saved.other_optimiser is None:
        return []
    return [
        f"its optimiser was {saved.other_optimiser}, which {cls.__name__} does not have here: if "
        "the loaded model learns on, it uses its usual one."
    ]
