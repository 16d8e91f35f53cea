"""Environments with an interface other than Gymnasium's, which need a wrapper to adapt them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from rlk.errors import BrokenPlugin, PlanError
from rlk.registry.entry import Entry


def refuse_foreign_interface(name: str, env: Any, wrappers: Iterable[Entry]) -> None:
    """PlanError for an environment that an installed wrapper would adapt, but none has.

    Args:
        name: of the environment, for the error.
        env: the environment in the wrappers of a plan.
        wrappers: all that are installed; broken ones are skipped.
    """
    for entry, adapts in _adapters(wrappers):
        if adapts(env):
            raise PlanError(
                f"environment {name!r} has another interface than Gymnasium's, and {entry.title} "
                f"adapts it ({entry.component().summary}). Use --plugin {entry.name}, in Python "
                f"plugins=[{entry.name!r}]."
            )


def _adapters(wrappers: Iterable[Entry]) -> Iterator[tuple[Entry, Callable[[Any], bool]]]:
    """The wrappers that adapt environments, each with what tells whether it adapts one."""
    for entry in wrappers:
        with contextlib.suppress(BrokenPlugin):
            if (adapts := entry.component().adapts) is not None:
                yield entry, adapts
