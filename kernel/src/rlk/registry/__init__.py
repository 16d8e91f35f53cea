"""The components of the default kernel, a registry per kind.

`rlk.registry.storages.register("mine", MyStorage)` adds one, `rlk.registry.storages.get("replay")`
finds one. Every attribute of `rlk.registry.registries.Registries` is there, looked up when it is
used.
"""

from __future__ import annotations

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    kernel = importlib.import_module("rlk.registry.kernel").default_kernel()
    return getattr(kernel.registries, name)
