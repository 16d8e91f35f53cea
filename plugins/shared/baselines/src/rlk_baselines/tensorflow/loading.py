"""Makes a model of one that Stable Baselines 2.10 has saved."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rlk_baselines
from rlk.records import Array
from rlk_baselines.arguments import OF_ALL
from rlk_baselines.environments.as_vec_env import AwaitedVecEnv
from rlk_baselines.refusals import Refused
from rlk_baselines.tensorflow import files, names

if TYPE_CHECKING:
    from rlk_baselines.common.base_class import BaseRLModel

#: The classes whose files are loaded.
CLASSES = ("A2C", "ACER", "ACKTR", "DDPG", "DQN", "GAIL", "PPO1", "PPO2", "SAC", "TD3", "TRPO")
#: Parameters that no file can give, by the algorithm: DDPG's critic takes the action behind its
#: first layer there, and with the observation here.
NEW = {"ddpg": ("model/qf/", "targets/qf/")}


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
    settings = {name: saved.settings[name] for name in cls.names if name in saved.settings}
    settings = {name: _as_tuple(value) for name, value in settings.items()}
    if "policy_kwargs" in cls.names:
        settings["policy_kwargs"] = dict(saved.policy_kwargs)
    settings = {"policy": saved.policy, "env": _environment(saved, env), **settings, **given}
    if settings["policy"] is None:
        raise Refused(
            f"the policy in {path} is a class of a program, which is not read: pass it again, "
            f"{cls.__name__}.load({str(path)!r}, policy=…)."
        )
    _warn_of_left_out(cls, saved, given)
    if cls.algo in NEW:
        warnings.warn(f"{path}: the critic of DDPG begins anew.", stacklevel=5)
    model = cls(**settings)
    kept = NEW.get(cls.algo, ())
    wanted = {
        name: value for name, value in model.get_parameters().items() if not name.startswith(kept)
    }
    model.load_parameters(
        names.translated(cls.algo, wanted, saved.parameters), exact_match=not kept
    )
    return model


def parameters(model: BaseRLModel, saved: files.SavedThere) -> dict[str, Array]:
    """The parameters in a file by the names of a model, without those that are `NEW`."""
    new, now = NEW.get(model.algo, ()), model.get_parameters()
    wanted = {name: value for name, value in now.items() if not name.startswith(new)}
    return names.translated(model.algo, wanted, saved.parameters)


def _check_class(cls: type[BaseRLModel], saved: files.SavedThere) -> None:
    """Refuse the file of another class, and what is not loaded."""
    if "model_class" in {*saved.settings, *saved.left_out}:
        raise Refused(f"{saved.path} is a model of HER in Stable Baselines, which is not loaded.")
    found = _class_of(saved)
    if found not in [base.__name__ for base in cls.__mro__]:
        raise Refused(
            f"{saved.path} holds a model of {found}, not of {cls.__name__}. Write "
            f"{found}.load({str(saved.path)!r})."
        )
    if any("obs_rms/" in name for name in saved.parameters):
        raise Refused(
            f"{saved.path}: its observations are normalised by statistics in TensorFlow's graph, "
            "which are not loaded."
        )


def _class_of(saved: files.SavedThere) -> str:
    """The name of the class whose arguments are most like those in a file, which has no name.

    TRPO writes those of GAIL, too, and whether it is that.
    """
    if "using_gail" in saved.settings:
        return "GAIL" if saved.settings["using_gail"] else "TRPO"
    own = {name: {*getattr(rlk_baselines, name).names} - OF_ALL.keys() for name in CLASSES}
    there = {*saved.settings, *saved.left_out} & set().union(*own.values())
    return max(own, key=lambda name: len(own[name] & there) / len(own[name] | there))


def _environment(saved: files.SavedThere, env: Any) -> Any:
    if env is not None:
        return env
    if saved.observation_space is None or saved.action_space is None:
        raise Refused(f"the spaces in {saved.path} cannot be read: pass an environment, env=….")
    return AwaitedVecEnv(saved.n_envs, saved.observation_space, saved.action_space, None)


def _as_tuple(value: Any) -> Any:
    """JSON makes lists of tuples."""
    return tuple(value) if isinstance(value, list) else value


def _warn_of_left_out(
    cls: type[BaseRLModel], saved: files.SavedThere, given: Mapping[str, Any]
) -> None:
    left_out = [name for name in saved.left_out if name in cls.names and name not in given]
    if left_out:
        again = ", ".join(f"{name}=…" for name in left_out)
        warnings.warn(
            f"{saved.path}: {', '.join(left_out)} are functions or objects, which are not read. "
            f"They have their defaults now; to learn on, pass them again: load(…, {again}).",
            stacklevel=6,
        )
