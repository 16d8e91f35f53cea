"""Makes a model of one that Stable Baselines 2.10 has saved."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

import rlk_baselines
from rlk.records import Array
from rlk_baselines.arguments import OF_ALL
from rlk_baselines.custom_objects import SPACES
from rlk_baselines.environments.as_vec_env import AwaitedVecEnv
from rlk_baselines.refusals import Refused
from rlk_baselines.tensorflow import files, names

if TYPE_CHECKING:
    from rlk_baselines.common.base_class import BaseRLModel

#: The classes whose files are loaded.
CLASSES = ("A2C", "ACER", "ACKTR", "DDPG", "DQN", "GAIL", "PPO1", "PPO2", "SAC", "TD3", "TRPO")
#: Parameters that no file can give, by the algorithm, and what they are: DDPG's critic takes the
#: action behind its first layer there, and with the observation here; GAIL learns by TRPO.
NEW = {
    "ddpg": (("model/qf/", "target/qf/"), "the critic of DDPG"),
    "trpo": (("adversary/",), "the discriminator of GAIL"),
}


class LeftOut(UserWarning):
    """Settings that a file has and that its model does not take up.

    Args:
        path: the file.
        names: of the settings, as arguments of the constructor.
    """

    def __init__(self, path: Path, names: list[str]) -> None:
        self.names = tuple(names)
        again = ", ".join(f"{name}=…" for name in names)
        super().__init__(
            f"{path}: {', '.join(names)} are functions or objects, which are not read, or not "
            "settings here. They have their defaults now; to learn on, pass what matters again: "
            f"load(…, {again})."
        )


def load(cls: type[BaseRLModel], path: Path, env: Any, given: Mapping[str, Any]) -> Any:
    """A model with the parameters and settings of such a file.

    Args:
        cls: the class of the model.
        path: the file.
        env: the environment to learn in; None suffices to act.
        given: arguments of the constructor that are to be others, and those that no file gives.

    Raises:
        ValueError: if it is a model of another class, or something is missing in it.
        BadFile: if it is damaged.
    """
    saved = files.read(path)
    _check_class(cls, saved)
    model = made(cls, saved, env, given)
    found = parameters(model, saved)
    begins_anew = model.get_parameters().keys() > found.keys()
    if begins_anew:
        warnings.warn(f"{path}: {NEW[cls.algo][1]} begins anew.", stacklevel=5)
    model.load_parameters(found, exact_match=not begins_anew)
    return model


def made(
    cls: type[BaseRLModel], saved: files.SavedThere, env: Any, given: Mapping[str, Any]
) -> BaseRLModel:
    """A model with the settings of a file, and parameters of its own."""
    spaces = {name: given[name] for name in SPACES if name in given}
    given = {name: value for name, value in given.items() if name not in SPACES}
    saved = attrs.evolve(saved, **spaces)
    settings = {name: saved.settings[name] for name in cls.names if name in saved.settings}
    settings = {name: _as_tuple(value) for name, value in settings.items()}
    settings.pop("tensorboard_log", None)  # no file chooses where something is written
    if not str(settings.get("ent_coef", "auto")).startswith("auto"):
        settings.pop("target_entropy", None)  # they write what it would have been
    settings |= {"policy": saved.policy, "policy_kwargs": dict(saved.policy_kwargs)}
    settings = {**settings, "env": _environment(saved, env), **given}
    if settings["policy"] is None:
        raise Refused(
            f"the policy in {saved.path} is a class of a program, which is not read: pass it "
            f"again, {cls.__name__}.load({str(saved.path)!r}, policy=…)."
        )
    left_out = [name for name in saved.left_out if name in cls.names]
    left_out += _not_here(cls, settings)
    lost = [name for name in left_out if name not in given]
    if lost:
        warnings.warn(LeftOut(saved.path, lost), stacklevel=6)
    return cls(**settings)


def parameters(model: BaseRLModel, saved: files.SavedThere) -> dict[str, Array]:
    """The parameters in a file by the names of a model, without those that are `NEW`."""
    new, _ = NEW.get(model.algo, ((), ""))
    now = model.get_parameters()
    wanted = {name: value for name, value in now.items() if not name.startswith(new)}
    return names.translated(names.RULES[model.algo], wanted, saved.parameters)


def _check_class(cls: type[BaseRLModel], saved: files.SavedThere) -> None:
    """Refuse the file of another class, and what is not loaded."""
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
    """The name of the class whose arguments are most like those in a file, which has no name.

    It is several names where they are like those of several classes. TRPO writes the arguments of
    GAIL, too, and whether it is that.
    """
    if "using_gail" in saved.settings:
        return ("GAIL",) if saved.settings["using_gail"] else ("TRPO",)
    own = {name: {*getattr(rlk_baselines, name).names} - OF_ALL.keys() for name in CLASSES}
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
    """JSON makes lists of tuples."""
    return tuple(value) if isinstance(value, list) else value


def _not_here(cls: type[BaseRLModel], settings: dict[str, Any]) -> list[str]:
    """Takes out what has one value here and only matters to learning; those of another value."""
    only = {k: value for k, (value, _) in getattr(cls, "only", {}).items() if k != "use_sde"}
    return [key for key, value in only.items() if (settings.pop(key, None) or value) != value]
