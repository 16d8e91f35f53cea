"""Finds pairs of a batch [B, 1] and a batch [B] whose difference or product is [B, B].

PyTorch broadcasts them without a word: a value head's output [B, 1] minus returns [B] compares
every value with the return of every transition, and the value learns no more than the mean.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from rlk.hookspecs import hookimpl

if TYPE_CHECKING:
    from rlk.running.run import Run

_ATEN = torch.ops.aten
#: Operations of two tensors, element by element; matrix products and layers are none of them.
_PAIRWISE = (_ATEN.add, _ATEN.sub, _ATEN.mul, _ATEN.div, _ATEN.maximum, _ATEN.minimum)
#: Updates that are looked at; what an algorithm does in every few is done in one of them.
_UPDATES = 4


class WatchBroadcasts:
    """A plugin that looks at the operations of a run's first updates.

    Attributes:
        found: names of operations (`sub`) -> the number B of the first batch that they paired.
    """

    def __init__(self) -> None:
        self.found: dict[str, int] = {}
        self._left = _UPDATES

    @hookimpl
    def rlk_wrap_update(self, run: Run) -> Callable[..., Any]:
        def wrapper(update: Callable[..., Any]) -> Callable[..., Any]:
            def watched(batch: Any, optimise: Any) -> Any:
                if not self._left:
                    return update(batch, optimise)
                self._left -= 1
                with _Watching(_lengths(batch), self.found):
                    return update(batch, optimise)

            return watched

        return wrapper


class _Watching(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Adds to `found` inside; `lengths` are the lengths of the batch's tensors."""

    def __init__(self, lengths: set[int], found: dict[str, int]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._lengths, self._found = lengths, found

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        packet = func.overloadpacket
        if packet in _PAIRWISE or packet is _ATEN.expand:
            n = self._paired(args)
            if n is not None:
                self._found.setdefault(packet.__name__, n)
        return func(*args, **(kwargs or {}))

    def _paired(self, args: tuple[Any, ...]) -> int | None:
        """B, if [B, 1] and [B] are put together here."""
        first, second = args[0], args[1]
        # mse_loss and its relatives expand [B, 1] to [B, B] before they subtract.
        shapes = {tuple(one.shape) for one in (first, second) if isinstance(one, torch.Tensor)}
        expanded = tuple(second) if isinstance(second, (list, tuple)) else None
        for n in self._lengths:
            if n > 1 and (shapes == {(n, 1), (n,)} or (shapes == {(n, 1)} and expanded == (n, n))):
                return n
        return None


def _lengths(batch: Any) -> set[int]:
    """The lengths of the tensors of a batch along their first axis."""
    return {
        len(value)
        for value in vars(batch).values()
        if isinstance(value, torch.Tensor) and value.dim() > 0
    }
