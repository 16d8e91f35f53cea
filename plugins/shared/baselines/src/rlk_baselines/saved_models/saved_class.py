"""The class of a saved model: how a file names it, and what is said where another one loads it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rlk_baselines.refusals import Refused


def named(cls: type) -> dict[str, str]:
    """What a file says of the class: its name, and the module that a program imports it from."""
    return {"class": cls.__name__, "module": _home(cls)}


def refuse_other_class(cls: type, about: Mapping[str, Any], path: Path) -> None:
    """Raise Refused if a file is of a class that has not the name of `cls` or of a base of it.

    Files of the bases of a class that `has_own_files` do not count.

    Args:
        cls: the class that loads the file.
        about: what the file says of its model; older files name no module.
        path: the file.
    """
    name, home, own_home = about["class"], about.get("module"), _home(cls)
    for base in cls.__mro__:
        if base.__name__ == name:
            return
        if vars(base).get("has_own_files", False):
            break
    if home in (None, own_home, "__main__"):
        raise Refused(
            f"{path} holds a model of {name}, not of {cls.__name__}. Write {name}.load(…)."
        )
    raise Refused(
        f"{path} holds a model of {home}.{name}, not of {own_home}.{cls.__name__}. Write "
        f"from {home} import {name}, and {name}.load(…)."
    )


def _home(cls: type) -> str:
    """The package of a class if its name is one of the package's, else its module."""
    package = cls.__module__.partition(".")[0]
    is_of_package = getattr(sys.modules.get(package), cls.__name__, None) is cls
    return package if is_of_package else cls.__module__
