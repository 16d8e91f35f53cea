"""The hook of `own-kernels`: updates that are not compiled use our own kernels, too."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rlk.hookspecs import UpdateFunction, WrapsUpdate, hookimpl

if TYPE_CHECKING:
    from rlk.protocols import Optimise
    from rlk.records import Update
    from rlk.running.run import Run

#: The extension after which updates are compiled, and use the passes of this package instead.
COMPILE = "compile"


class OwnKernels:
    """Switches our own kernels on during updates whose products are large enough for them.

    Whatever is computed outside of updates is computed by torch. Each batch alone decides for its
    update, whatever batches there were before, so a resumed run continues bit for bit.
    """

    @hookimpl(trylast=True)
    def rlk_wrap_update(self, run: Run) -> WrapsUpdate | None:
        """Around all other wrappers. None where the kernels are of no use."""
        if run.device != "cpu" or any(choice.name == COMPILE for choice in run.plan.extensions):
            return None
        # Imported here: this module is loaded with every plan, torch only with an agent.
        from rlk_cpp_libraries import compiler
        from rlk_own_products.batches import has_transitions, least_transitions
        from rlk_own_products.native import suits_this_processor

        if not suits_this_processor() or compiler() is None:
            return None
        least = least_transitions(run.policy.parameters())
        if least is None:
            return None
        built = functools.cache(switch)

        def wrap(update: UpdateFunction) -> UpdateFunction:
            def update_with_them(batch: Any, optimise: Optimise) -> Update:
                use = built() if has_transitions(batch, least) else None
                if use is None:
                    return update(batch, optimise)
                before = use(True)  # already on, if this agent learns in an update of another one
                try:
                    return update(batch, optimise)
                finally:
                    use(before)

            return update_with_them

        return wrap


def switch() -> Callable[[bool], bool] | None:
    """The switch of the kernels, which are built if necessary.

    If they cannot be built, this warns and returns None.
    """
    from rlk_cpp_libraries import Unbuilt
    from rlk_own_products.native import eager

    try:
        return eager()
    except Unbuilt as error:
        warnings.warn(
            f"own-kernels (rlk-own-products) leaves updates to torch: {error}. "
            "`--plugin no:own-kernels` does not try.",
            stacklevel=2,
        )
        return None
