"""The part of a model class that reads the files of one other library."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from rlk.records import Array

if TYPE_CHECKING:
    from rlk_baselines.common.base_class import BaseRLModel


class ForeignFiles(Protocol):
    """Reads the models that the original library of a model class has saved.

    Its methods raise Refused for a model that does not fit, and BadFile for a damaged file.
    """

    def is_from_there(self, path: Path) -> bool:
        """Whether that library wrote a file."""

    def load(self, cls: type[BaseRLModel], path: Path, env: Any, given: Mapping[str, Any]) -> Any:
        """Make a model with the parameters and settings of a file.

        Args:
            cls: the class of the model.
            path: the file.
            env: the environment to learn in; a model that only acts needs none.
            given: constructor arguments with new values, and those that the file does not hold.
        """

    def parameters_in(self, path: Path, model: BaseRLModel) -> Mapping[str, Array]:
        """The parameters in a file, by the names that they have in a model."""
