"""Makes a model from a file of Stable Baselines 2.10."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rlk_baselines
from rlk.program_warnings import warn_program
from rlk.records import Array
from rlk_baselines.arguments import LAST
from rlk_baselines.foreign_files.making import made
from rlk_baselines.foreign_files.parameters import translated
from rlk_baselines.foreign_files.saved_there import SavedThere
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


class FilesOfStableBaselines:
    """The files of Stable Baselines 2.10, as `ForeignFiles`."""

    def is_from_there(self, path: Path) -> bool:
        return files.is_from_there(path)

    def load(self, cls: type[BaseRLModel], path: Path, env: Any, given: Mapping[str, Any]) -> Any:
        saved = files.read(path)
        _check_class(cls, saved)
        model = made(cls, saved, env, given)
        found = _parameters(model, saved)
        begins_anew = model.get_parameters().keys() > found.keys()
        if begins_anew:
            warn_program(f"{path}: {NEW[cls.algo][1]} begins anew.")
        model.load_parameters(found, exact_match=not begins_anew)
        return model

    def parameters_in(self, path: Path, model: BaseRLModel) -> Mapping[str, Array]:
        return _parameters(model, files.read(path))


def _parameters(model: BaseRLModel, saved: SavedThere) -> dict[str, Array]:
    """The parameters in a file, by their names in a model, without those in `NEW`."""
    new, _ = NEW.get(model.algo, ((), ""))
    now = model.get_parameters()
    wanted = {name: value for name, value in now.items() if not name.startswith(new)}
    return translated(names.RULES[model.algo], wanted, saved.parameters)


def _check_class(cls: type[BaseRLModel], saved: SavedThere) -> None:
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


def classes_of(saved: SavedThere) -> tuple[str, ...]:
    """The name of the class whose arguments best match the settings in a file.

    Files do not hold the class. There are several names if several classes match equally well. TRPO
    also saves `using_gail`, which tells it from GAIL.
    """
    if "using_gail" in saved.settings:
        return ("GAIL",) if saved.settings["using_gail"] else ("TRPO",)
    last = {one.name for one in LAST}
    own = {name: {*getattr(rlk_baselines, name).arguments} - last for name in CLASSES}
    there = {*saved.settings, *saved.left_out} & set().union(*own.values())
    like = {name: len(names & there) / len(names | there) for name, names in own.items()}
    return tuple(name for name in CLASSES if like[name] == max(like.values()))
