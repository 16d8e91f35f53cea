"""The hooks of `flush-denormals`.

Where a ReLU is never active, a weight has no gradient, and Adam's average of the gradient halves
every seven updates. After some 800 it is denormal, and it stays so, as the smallest of them times
0.9 is rounded to itself. Arithmetic with such numbers takes many processors a hundred cycles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlk.hookspecs import UpdateFunction, WrapsUpdate, hookimpl

if TYPE_CHECKING:
    from rlk.protocols import Optimise
    from rlk.records import Update
    from rlk.running.run import Run


class FlushDenormals:
    """Lets the processor take denormal numbers for zeros during updates.

    So environments, callbacks and evaluations compute as always. The processor's mode is one of a
    thread, so nothing is changed where torch has several.
    """

    def __init__(self) -> None:
        self._wanted = False

    @hookimpl
    def rlk_training_start(self, run: Run) -> None:
        # Imported here: this module is loaded with every plan, torch only with an agent.
        import torch

        on_one_thread = run.device == "cpu" and torch.get_num_threads() == 1
        self._wanted = on_one_thread and not is_flushing()

    @hookimpl(trylast=True)
    def rlk_wrap_update(self) -> WrapsUpdate:
        """Around all other wrappers: a compiled update cannot contain it."""
        from torch import set_flush_denormal

        def wrap(update: UpdateFunction) -> UpdateFunction:
            def flushing(batch: Any, optimise: Optimise) -> Update:
                if not self._wanted:
                    return update(batch, optimise)
                set_flush_denormal(True)
                try:
                    return update(batch, optimise)
                finally:
                    set_flush_denormal(False)

            return flushing

        return wrap


def is_flushing() -> bool:
    """Whether this thread flushes denormal numbers to zero now."""
    import torch

    return not torch.tensor(2.0**-140, dtype=torch.float32).mul(1.0).view(torch.int32).item()
