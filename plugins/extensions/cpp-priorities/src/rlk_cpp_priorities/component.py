"""The component `cpp-priorities`, which is active wherever an agent is made."""

from __future__ import annotations

from rlk.component import Component

component = Component(
    name="cpp-priorities",
    factory="rlk_cpp_priorities.extension:CppPriorities",
    summary="priorities of prioritized replay in C++; in numpy if there is no compiler",
    autostart="always",
    only_trains=True,
)
