"""What the command line knows of `rlk plugins show` and `rlk plugins check` beforehand."""

from __future__ import annotations

from rlk.component import Component

show = Component(
    name="plugins.show",
    factory="rlk_inspect.show:show",
    summary="One component: what it does, needs and takes.",
)

check = Component(
    name="plugins.check",
    factory="rlk_inspect.check:check",
    summary="Look for faults, in all components or in those named.",
)
