"""The components: `compile`, and `compile-hint`, which says when compiling would pay off."""

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

hint = Component(
    name="compile-hint",
    factory="rlk_compile.hint:CompileHint",
    summary="says before a long run without compile how much time compile would save",
    autostart="run",
    only_trains=True,
)
