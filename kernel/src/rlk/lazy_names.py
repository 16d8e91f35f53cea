"""Names that a package imports on first use (PEP 562): what lists components needs no torch."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def lazy_names(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return the `__getattr__`, the `__dir__` and the `__all__` of a package.

    They stand in the `else` of `if TYPE_CHECKING:`, which imports the same names for type checkers:
    these would take any name, misspelt or not, for one of a package that has a `__getattr__`.
    `dir` lists the names, and submodules that were imported.

    Args:
        package: the `__name__` of the package.
        homes: the submodule of each name, below the package.
    """

    def imported(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f"{package}.{homes[name]}"), name)

    def listed() -> list[str]:
        own = (name for name in vars(sys.modules[package]) if is_listed(name))
        return sorted({*own, *homes})

    def is_listed(name: str) -> bool:
        """Whether it is no name that the package's source imports for itself."""
        return name.startswith("__") or f"{package}.{name}" in sys.modules

    return imported, listed, sorted(homes)
