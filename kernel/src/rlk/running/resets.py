"""Who is told when environments are reset although no episode has ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rlk.abilities import ToldOfResets, offers

if TYPE_CHECKING:
    from rlk.running.run import Run


def told_of_resets(run: Run) -> list[Callable[[], None]]:
    """What to call where the next step begins new episodes although no other has ended.

    Collectors look this up when they are built, and call it whenever they reset the environments.
    So callbacks of one call of `learn` are not told.
    """
    parts: list[Any] = [run.storage, run.algorithm, *run.hooks.active()]
    return [part.interrupt for part in parts if offers(part, ToldOfResets)]
