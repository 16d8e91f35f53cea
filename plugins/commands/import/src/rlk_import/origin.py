"""Finds the library that saved a model, and the class, as far as its file shows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import attrs

import rlk_baselines
import rlk_sb3
import rlk_sb3_contrib
from rlk.errors import BadFile, PlanError, either
from rlk.files import looking_at
from rlk_baselines.tensorflow import files as tensorflow_files
from rlk_baselines.tensorflow.loading import classes_of
from rlk_sb3.saved import files as sb3_files
from rlk_sb3.saved.classes import library_of

if TYPE_CHECKING:
    from rlk_baselines.common.base_class import BaseRLModel


#: The packages that `library_of` names.
_OF_SB3 = {one.__name__: one for one in (rlk_sb3, rlk_sb3_contrib)}


@attrs.frozen
class Origin:
    """A model that another library has saved."""

    path: Path
    library: str
    kind: type[BaseRLModel]  #: the class that loads it

    @property
    def package(self) -> str:
        """The package of the class: `rlk_sb3`."""
        return self.kind.__module__.partition(".")[0]

    @property
    def title(self) -> str:
        """`PPO of Stable-Baselines3`."""
        return f"{self.kind.__name__} of {self.library}"


def origin_of(path: Path, algo: str | None = None) -> Origin:
    """Find the origin of a model.

    Args:
        path: its file.
        algo: the name of its class in any case, if the file does not show which of several it is.

    Raises:
        BadFile: if none of the libraries wrote the file.
        PlanError: if it is a model of another class, or `algo` is needed.
    """
    with looking_at(path, f"cannot read {path}"):
        if sb3_files.is_from_there(path):
            name, _ = sb3_files.read(path)
            library = library_of(_one_of(path, (name,), algo))
            kind = getattr(_OF_SB3[library.package], name)
            return Origin(path, library.title, kind)
        if tensorflow_files.is_from_there(path):
            name = _one_of(path, classes_of(tensorflow_files.read(path)), algo)
            return Origin(path, "Stable Baselines 2.10", getattr(rlk_baselines, name))
    raise BadFile(
        f"{path} is not a model that Stable Baselines 2.10, Stable-Baselines3 or sb3-contrib has "
        "saved. A model of rlk's own needs no import: rlk evaluate MODEL."
    )


def _one_of(path: Path, names: tuple[str, ...], algo: str | None) -> str:
    """The name of the class, among those that the file allows."""
    asked = [name for name in names if algo is None or name.lower() == algo.lower()]
    if not asked:
        raise PlanError(f"{path} holds a model of {either(names)}, not of {algo}. Drop --algo.")
    if len(asked) > 1:
        typed = ", ".join(f"--algo {name.lower()}" for name in asked)
        raise PlanError(f"{path} does not say which class its model has. Use one of: {typed}.")
    return asked[0]
