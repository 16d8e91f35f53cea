"""Who is told when environments are reset although no episode has ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rlk.abilities import ToldOfResets, offers

if TYPE_CHECKING:
    from rlk.running.run import Run


def told_of_resets(run: Run) -> list[Callable[[], None]]:
    """What a collector calls whenever it resets the environments, to be looked up once."""
    parts: list[Any] = [run.storage, run.algorithm]
    return [part.interrupt for part in parts if offers(part, ToldOfResets)]
