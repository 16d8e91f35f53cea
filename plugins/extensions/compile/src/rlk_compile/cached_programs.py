"""Loads the program that another run of the same update left on disk, without tracing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from torch import Tensor

from rlk_compile.ahead_of_time import loaded
from rlk_compile.backend import Built
from rlk_compile.cache import Cache, Entry
from rlk_compile.conditions import Conditions, Scope, Unknown, described
from rlk_compile.program import Program, scope_of
from rlk_compile.sources import unchanged
from rlk_compile.trial import restored


def candidates(
    cache: Cache, key: str, update: Callable[..., Any], batch: Any, optimise: Any
) -> Iterator[tuple[Program, Entry]]:
    """The cached programs for a key whose conditions hold; damaged ones are removed.

    If all that a program lacks is objects that the first update makes (wrapped losses), the update
    is run once, as it is before a program is built, and tensors are restored.
    """
    scope, has_run = scope_of(update, batch, optimise), False
    for entry in cache.find(key):
        if entry.call_plan.sources is None or not unchanged(entry.call_plan.sources):
            cache.remove(entry)
            continue
        try:
            if not has_run and _only_lacks_objects(scope, entry.call_plan.conditions):
                has_run = True
                with restored(entry.call_plan.fixed(scope)):
                    update(batch, optimise)
            if scope.describe(entry.call_plan.conditions) != entry.call_plan.conditions:
                continue
            yield Program(entry.call_plan, loaded(entry.library), update, batch, optimise), entry
        except Unknown:
            continue
        except RuntimeError:  # torch cannot load it
            cache.remove(entry)


def _only_lacks_objects(scope: Scope, conditions: Conditions) -> bool:
    """Whether some objects do not exist, and all others are as described.

    A dict that is empty may be filled by the first update. Which memory tensors share cannot be
    compared before all of them exist.
    """
    lacks = False
    for place, wanted in conditions.items():
        try:
            value = scope.find(place)
        except Unknown:
            lacks = True
            continue
        text = described(value)
        if place.startswith("hasattr(") and value is False:
            lacks = lacks or wanted != text
            continue
        begins = isinstance(value, Tensor) or (isinstance(value, dict) and not value)
        if not (wanted.startswith(text) if begins else wanted == text):
            return False
    return lacks


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
