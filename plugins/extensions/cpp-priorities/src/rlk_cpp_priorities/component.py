"""The component `cpp-priorities`, which is active wherever an agent is made."""

from __future__ import annotations

from rlk.component import Component

component = Component(
    name="cpp-priorities",
    factory="rlk_cpp_priorities.extension:CppPriorities",
    summary="prioritized replay sums and finds priorities in C++; in numpy where no compiler is",
    autostart="always",
)
