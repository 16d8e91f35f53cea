"""The hook of the C++ tree: prioritized replay is made with it."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from rlk.hookspecs import hookimpl

if TYPE_CHECKING:
    from rlk.planning.choice import Choice


class CppPriorities:
    """Makes the storage `prioritized-replay` with a tree in C++; leaves all others unchanged."""

    @hookimpl(trylast=True)  # it is active by default: what a user adds is asked first
    def rlk_make_storage(self, choice: Choice) -> Any:
        """The storage with the tree; None for other storages, or if the tree cannot be built."""
        if choice.component.name != "prioritized-replay":
            return None
        # Imported here: this module is loaded with every plan.
        from rlk_cpp_libraries import Unbuilt, compiler
        from rlk_cpp_priorities.tree import CppSumTree, library

        if compiler() is None:
            return None
        try:
            library()
        except Unbuilt as error:
            warnings.warn(
                f"cpp-priorities (rlk-cpp-priorities) leaves priorities to numpy: {error}. "
                "`--plugin no:cpp-priorities` does not try.",
                stacklevel=2,
            )
            return None
        return choice.make(make_tree=CppSumTree)
