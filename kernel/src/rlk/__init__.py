"""rlk: reinforcement learning as a plugin microkernel.

`rlk.make` and `rlk.load` return an agent; a plugin's entry point names an `rlk.Component`;
`rlk.hookimpl` marks implementations of hooks. Nothing is imported until it is used.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rlk import registry as registry
    from rlk.agent import Agent as Agent
    from rlk.component import Component as Component
    from rlk.hookspecs import hookimpl as hookimpl
    from rlk.making import load as load
    from rlk.making import make as make
    from rlk.making import open_agents as open_agents
    from rlk.planning.spec import Patch as Patch
    from rlk.planning.spec import RunSpec as RunSpec
    from rlk.registry.kernel import Kernel as Kernel
    from rlk.registry.kernel import default_kernel as default_kernel

    __version__: str

#: The module of every public name, below `rlk`.
_HOMES = {
    "Agent": "agent",
    "load": "making",
    "make": "making",
    "open_agents": "making",
    "Component": "component",
    "hookimpl": "hookspecs",
    "Patch": "planning.spec",
    "RunSpec": "planning.spec",
    "Kernel": "registry.kernel",
    "default_kernel": "registry.kernel",
}


# Type checkers would take every misspelt name for one of the package.
if not TYPE_CHECKING:
    __all__ = [*_HOMES, "registry"]

    def __getattr__(name: str) -> Any:
        if name == "registry":
            return importlib.import_module("rlk.registry")
        if name == "__version__":
            return importlib.import_module("importlib.metadata").version("rlk-kernel")
        if name in _HOMES:
            return getattr(importlib.import_module(f"rlk.{_HOMES[name]}"), name)
        raise AttributeError(
            f"module 'rlk' has no attribute {name!r}: it has {', '.join(_HOMES)} and registry. "
            "Algorithms are made by their names: rlk.make('NAME')"
        )


def __dir__() -> list[str]:
    """The names to use, and modules that were imported, but not what this module needs itself."""
    own = {name for name in globals() if name.startswith("__") or f"rlk.{name}" in sys.modules}
    return sorted({*own, *_HOMES, "registry", "__version__"})
