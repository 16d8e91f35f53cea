"""When the factors are inverted: at once, or in a thread for a later step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from threading import Thread
from typing import Any, TypeVar

import torch

from rlk_kfac.batch_factors import Pair
from rlk_kfac.factors import damped_inverses
from rlk_kfac.products import Key

T = TypeVar("T")


@torch.no_grad()
def inverted(factors: Mapping[Key, Pair], epsilon: float) -> dict[Key, Pair]:
    """The damped inverses of the factors A and G of each layer.

    Layers are taken in the order of their parameters. Matrices of one size are inverted in one
    call, whose rounding depends on their order. So a loaded model, whose file may hold its layers
    in another order, continues with the same numbers.
    """
    keys = sorted(factors, key=lambda key: [-1 if number is None else number for number in key])
    found = damped_inverses([factors[key] for key in keys], epsilon)
    return dict(zip(keys, found, strict=True))


class AtOnce:
    """The inverses of the current factors."""

    def __init__(self, epsilon: float) -> None:
        self._epsilon = epsilon

    def renewed(self, factors: Mapping[Key, Pair]) -> dict[Key, Pair]:
        """The inverses to use from now on, for the same layers."""
        return inverted(factors, self._epsilon)

    def coming(self) -> dict[Key, Pair]:
        """The inverses that are already known for the next renewal."""
        return {}

    def restore(self, coming: dict[Key, Pair]) -> None:
        """Continue from the result of another's `coming`: nothing, as none is known ahead."""


def in_thread(function: Callable[..., T], *arguments: Any) -> Future[T]:
    """What a function will return, which a new thread calls; the thread then ends."""
    coming = Future[T]()

    def call() -> None:
        try:
            coming.set_result(function(*arguments))
        except BaseException as error:
            coming.set_exception(error)

    Thread(target=call, name="kfac").start()
    return coming


class InThread(AtOnce):
    """The inverses of the factors at the last renewal, computed since then in a thread.

    A renewal waits for the computation that the last one began, however fast the thread is. So no
    step depends on timing, and a resumed run is equal bit for bit.
    """

    def __init__(self, epsilon: float) -> None:
        super().__init__(epsilon)
        self._coming: Future[dict[Key, Pair]] | None = None

    def renewed(self, factors: Mapping[Key, Pair]) -> dict[Key, Pair]:
        come = self.coming()
        new = {key: pair for key, pair in factors.items() if key not in come}
        now = {key: (inner.clone(), outer.clone()) for key, (inner, outer) in factors.items()}
        self._coming = in_thread(inverted, now, self._epsilon)
        return come | super().renewed(new)

    def coming(self) -> dict[Key, Pair]:
        return {} if self._coming is None else self._coming.result()

    def restore(self, coming: dict[Key, Pair]) -> None:
        self._coming = Future()
        self._coming.set_result(coming)
