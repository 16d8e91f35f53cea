"""The hook of `own-kernels`: updates that are not compiled use our own kernels, too."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from rlk.hookspecs import hookimpl

if TYPE_CHECKING:
    from torch import Tensor

    from rlk.running.run import Run

#: The extension after which updates are compiled, and use the passes of this package instead.
COMPILE = "compile"


class OwnKernels:
    """Switches our own kernels on during updates whose products are large enough for them.

    Whatever is computed outside of updates is computed by torch, so that a resumed run continues
    bit for bit.
    """

    @hookimpl(trylast=True)
    def rlk_wrap_update(self, run: Run) -> Callable[[Callable[..., Any]], Any] | None:
        """Around all other wrappers. None where the kernels are of no use."""
        if run.device != "cpu" or any(choice.name == COMPILE for choice in run.plan.extensions):
            return None
        # Imported here: this module is loaded with every plan, torch only with an agent.
        from rlk_cpp_libraries import compiler
        from rlk_own_products.native import suits_this_processor

        if not suits_this_processor() or compiler() is None:
            return None

        def wrap(update: Callable[..., Any]) -> Callable[..., Any]:
            switch: Callable[[bool], object] | None = None
            known = False

            def update_with_them(batch: Any, optimise: Any) -> Any:
                nonlocal switch, known
                if not known:
                    switch, known = switch_for(batch, run.policy.parameters()), True
                if switch is None:
                    return update(batch, optimise)
                switch(True)
                try:
                    return update(batch, optimise)
                finally:
                    switch(False)

            return update_with_them

        return wrap


def switch_for(batch: Any, parameters: Iterable[Tensor]) -> Callable[[bool], object] | None:
    """The switch of the kernels, which are built if necessary; None if the products are too small.

    It warns, once, if they cannot be built.
    """
    from rlk_cpp_libraries import Unbuilt
    from rlk_own_products.native import NUMBERS, WORK, eager

    matrices = [each.shape[-1] * each.shape[-2] for each in parameters if each.dim() in (2, 3)]
    largest = max((size for size in matrices if size <= NUMBERS), default=0)
    if transitions(batch) * largest < WORK:
        return None
    try:
        return eager()
    except Unbuilt as error:
        warnings.warn(
            f"own-kernels (rlk-own-products) leaves updates to torch: {error}. "
            "`--plugin no:own-kernels` does not try.",
            stacklevel=2,
        )
        return None


def transitions(batch: Any) -> int:
    """How many transitions a batch has: the numbers of its smallest tensor.

    0 if it is not a dataclass, or has no tensors.
    """
    if not dataclasses.is_dataclass(batch):
        return 0
    fields = [getattr(batch, field.name) for field in dataclasses.fields(batch)]
    return min((each.numel() for each in _tensors(fields) if each.dim()), default=0)


def _tensors(values: Iterable[Any]) -> Iterable[Tensor]:
    """Those among the values, and in values that are mappings."""
    from torch import Tensor

    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, Mapping):
            yield from _tensors(value.values())
