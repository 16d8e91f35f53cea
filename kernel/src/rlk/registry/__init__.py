"""The components of the default kernel, a registry per kind.

`rlk.registry.storages.register("mine", MyStorage)` adds one, `rlk.registry.storages.get("replay")`
finds one. Every attribute of `rlk.registry.registries.Registries` is there, looked up when it is
used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rlk.registry.registries import Registries


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(_registries(), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_registries())})


def _registries() -> Registries:
    return importlib.import_module("rlk.registry.kernel").default_kernel().registries
