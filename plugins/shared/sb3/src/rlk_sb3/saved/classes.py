"""The class of a model in a file, inferred from its settings: files do not hold it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from rlk_baselines.foreign_files.inert_pickle import path_of
from rlk_baselines.refusals import Refused

#: The classes of sb3-contrib whose models are loaded.
_LOADED_OF_CONTRIB = ("MaskablePPO", "RecurrentPPO", "TRPO")
#: The other classes of sb3-contrib, and what to use instead.
INSTEAD_OF_CONTRIB = {
    **dict.fromkeys(("ARS", "CrossQ"), "an algorithm of rlk: rlk plugins list --kind algorithms"),
    "QRDQN": "DQN of rlk_sb3, or of rlk_baselines, which is double and dueling",
    "TQC": "SAC or TD3 of rlk_sb3",
}
#: Packages of sb3-contrib with policies -> the class whose models have these policies.
_OF_CONTRIB = {
    "sb3_contrib.common.maskable.": "MaskablePPO",
    "sb3_contrib.common.recurrent.": "RecurrentPPO",
    "sb3_contrib.ars.": "ARS",
    "sb3_contrib.crossq.": "CrossQ",
    "sb3_contrib.qrdqn.": "QRDQN",
    "sb3_contrib.tqc.": "TQC",
}


class Library(NamedTuple):
    """The library of a class."""

    title: str
    package: str  #: the package that has the class here


def library_of(kind: str) -> Library:
    """The library of a class whose models can be loaded, by the name of the class."""
    if kind in _LOADED_OF_CONTRIB:
        return Library("sb3-contrib", "rlk_sb3_contrib")
    return Library("Stable-Baselines3", "rlk_sb3")


def class_in_library(cls: type) -> tuple[str, str]:
    """The package and the name of a model class; of a program's own, those of its base."""
    libraries = ("rlk_sb3", "rlk_sb3_contrib")
    places = [(base.__module__.partition(".")[0], base.__name__) for base in cls.__mro__]
    return next(place for place in places if place[0] in libraries)


def class_of(path: Path, policy: str, found: Mapping[str, Any], parameters: Iterable[str]) -> str:
    """The name of a model's class.

    Args:
        path: its file.
        policy: the module and name of its policy class; "" if the file holds that as code.
        found: its settings.
        parameters: the names of its parameters.

    Raises:
        Refused: if models of this class are not loaded.
    """
    kind = _of_contrib(policy, found, parameters)
    if kind is None and not policy.startswith("sb3_contrib."):
        kind = _of_sb3(found)
    if kind is None or kind in INSTEAD_OF_CONTRIB:
        raise _refusal(path, policy, kind)
    return kind


def _of_contrib(policy: str, found: Mapping[str, Any], parameters: Iterable[str]) -> str | None:
    """The name of a class of sb3-contrib; None for one of another library."""
    if "cg_max_steps" in found:
        return "TRPO"  # its policies are those of Stable-Baselines3
    if any(name.startswith("lstm_actor.") for name in parameters):
        return "RecurrentPPO"
    paths = (policy, path_of(found.get("rollout_buffer_class")) or "")
    names = [name for start, name in _OF_CONTRIB.items() if any(p.startswith(start) for p in paths)]
    return names[0] if names else None


def _of_sb3(found: Mapping[str, Any]) -> str | None:
    """The name of a class of Stable-Baselines3; None for another package's."""
    if "vf_coef" in found:
        return "PPO" if "clip_range" in found else "A2C"
    if "policy_delay" in found:
        is_ddpg = found["policy_delay"] == 1 and found.get("target_noise_clip") == 0.0
        return "DDPG" if is_ddpg else "TD3"
    if "ent_coef" in found:
        return "SAC"
    return "DQN" if "exploration_fraction" in found else None


def _refusal(path: Path, policy: str, kind: str | None) -> Refused:
    what = "a class of a program's own"
    if kind is not None or policy.startswith("sb3_contrib."):
        what = f"sb3-contrib's {kind}" if kind else "sb3-contrib"
    *first, last = _LOADED_OF_CONTRIB
    instead = f" To train a new model, use {INSTEAD_OF_CONTRIB[kind]}." if kind else ""
    return Refused(
        f"{path} holds a model of {what}, which is not loaded: only those of Stable-Baselines3 "
        f"itself, and of sb3-contrib's {', '.join(first)} and {last}, are.{instead}"
    )
