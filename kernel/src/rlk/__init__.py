"""rlk: reinforcement learning as a plugin microkernel.

`rlk.make` and `rlk.load` give an agent; `rlk.Component` is what a plugin's entry point names;
`rlk.hookimpl` marks the answers to hooks. Nothing heavy is imported until it is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rlk.agent import Agent, load, make
    from rlk.component import Component
    from rlk.hookspecs import hookimpl
    from rlk.kernel import Kernel, default_kernel
    from rlk.spec import Patch, RunSpec

__all__ = [
    "Agent",
    "Component",
    "Kernel",
    "Patch",
    "RunSpec",
    "default_kernel",
    "hookimpl",
    "load",
    "make",
]

_HOMES = {
    "Agent": "rlk.agent",
    "load": "rlk.agent",
    "make": "rlk.agent",
    "Component": "rlk.component",
    "hookimpl": "rlk.hookspecs",
    "Kernel": "rlk.kernel",
    "default_kernel": "rlk.kernel",
    "Patch": "rlk.spec",
    "RunSpec": "rlk.spec",
    "registry": "",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'rlk' has no attribute {name!r}")
    home = importlib.import_module(_HOMES[name] or f"rlk.{name}")
    return getattr(home, name) if _HOMES[name] else home
