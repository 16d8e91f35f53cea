"""rlk: reinforcement learning as a plugin microkernel.

`rlk.make` and `rlk.load` give an agent; `rlk.Component` is what a plugin's entry point names;
`rlk.hookimpl` marks the answers to hooks. torch is imported when an agent is made, not before.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from rlk import registry as registry
from rlk.component import Component as Component
from rlk.hookspecs import hookimpl as hookimpl
from rlk.kernel import Kernel as Kernel
from rlk.kernel import default_kernel as default_kernel
from rlk.spec import Patch as Patch
from rlk.spec import RunSpec as RunSpec

if TYPE_CHECKING:
    from rlk.agent import Agent as Agent
    from rlk.agent import load as load
    from rlk.agent import make as make


def __getattr__(name: str) -> Any:
    if name in ("Agent", "load", "make"):
        return getattr(importlib.import_module("rlk.agent"), name)
    raise AttributeError(f"module 'rlk' has no attribute {name!r}")
