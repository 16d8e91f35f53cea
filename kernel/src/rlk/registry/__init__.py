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
    from rlk.registry.registry import Registry

    algorithms: Registry
    recipes: Registry
    policies: Registry
    distributions: Registry
    noises: Registry
    vec_envs: Registry
    storages: Registry
    collectors: Registry
    optimisers: Registry
    serializers: Registry
    wrappers: Registry
    extensions: Registry
    callbacks: Registry
    loggers: Registry
    environments: Registry
    finders: Registry
    commands: Registry
    presets: Registry
    _all = Registries()
    add_kind, find = _all.add_kind, _all.find
    own_name, every_entry = _all.own_name, _all.every_entry

# Type checkers would take every misspelt name for a registry.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(_registries(), name)


def __dir__() -> list[str]:
    """The registries and what finds in all of them, without what this module imports for itself."""
    names = (name for name in dir(_registries()) if not name.startswith("_"))
    return sorted({*names, *(name for name in globals() if name.startswith("__"))})


def _registries() -> Registries:
    return importlib.import_module("rlk.registry.kernel").default_kernel().registries
