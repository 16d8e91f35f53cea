"""Loads the program that another run of the same update left on disk, without tracing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from rlk_compile.ahead_of_time import loaded
from rlk_compile.backend import Built
from rlk_compile.conditions import Unknown
from rlk_compile.kept.cache import Cache, Entry
from rlk_compile.program import Program, scope_of
from rlk_compile.sources import unchanged


def candidates(
    cache: Cache, key: str, update: Callable[..., Any], batch: Any, optimise: Any
) -> Iterator[tuple[Program, Entry]]:
    """The cached programs for a key whose conditions hold; damaged ones are removed."""
    scope = scope_of(update, batch, optimise)
    for entry in cache.find(key):
        if entry.call_plan.sources is None or not unchanged(entry.call_plan.sources):
            cache.remove(entry)
            continue
        try:
            if scope.describe(entry.call_plan.conditions) != entry.call_plan.conditions:
                continue
            yield Program(entry.call_plan, loaded(entry.library), update, batch, optimise), entry
        except Unknown:
            continue
        except RuntimeError:  # torch cannot load it
            cache.remove(entry)


def add(cache: Cache, key: str, program: Program, built: Built) -> str:
    """Add a program to the cache; returns why it cannot be cached, "" if it was added."""
    if built.library is None:
        return f"{built.strategy} leaves no library"
    if program.call_plan.sources is None:
        return "some of its code is in no file, or is reached by nothing that can be compared"
    try:
        cache.add(key, program.call_plan, built.library)
    except OSError as error:
        return str(error)
    return ""
