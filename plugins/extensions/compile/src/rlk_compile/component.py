"""The component `compile`."""

from __future__ import annotations

from rlk.component import Component
from rlk_compile.config import CompileConfig

component = Component(
    name="compile",
    factory="rlk_compile.extension:Compile",
    summary="traces the whole update into one graph and compiles it; eager where that fails",
    config=CompileConfig,
    only_trains=True,
)
