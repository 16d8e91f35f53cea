"""The names of a package that are imported on first use, and its submodules likewise."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from typing import Any

from rlk_baselines.refusals import not_here


def on_first_use(
    package: str, homes: Mapping[str, str] | None = None, instead: Mapping[str, str] | None = None
) -> Callable[[str], Any]:
    """The `__getattr__` of a package: a program needs no import of its own for a submodule.

    Args:
        package: the `__name__` of the package.
        homes: the submodule of each name, below the package.
        instead: what to use instead of names that the original package has: see `not_here`.
    """

    def imported(name: str) -> Any:
        if homes and name in homes:
            return getattr(importlib.import_module(f"{package}.{homes[name]}"), name)
        if importlib.util.find_spec(f"{package}.{name}") is None:
            raise not_here(package, name, instead or {})
        return importlib.import_module(f"{package}.{name}")

    return imported
