"""Where the tree in C++ joins a run: prioritized replay is made with it."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from rlk.hookspecs import hookimpl

if TYPE_CHECKING:
    from rlk.planning.choice import Choice


class CppPriorities:
    """Makes the storage `prioritized-replay` with a tree in C++; all others stay as they are."""

    @hookimpl
    def rlk_make_storage(self, choice: Choice) -> Any:
        """The same storage, or None where it is another one, or there is nothing to build with."""
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
