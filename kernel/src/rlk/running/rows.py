"""Rows hold only numbers: a plugin that logs anything else is named before a logger gets it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from rlk.errors import BrokenPlugin
from rlk.strict_types import own_number

if TYPE_CHECKING:
    from rlk.registry.hooks import Listener


def as_numbers(found: Any, whose: str) -> dict[str, float]:
    """Numbers to be logged, by tag, as Python numbers.

    Args:
        found: numbers, also those of numpy and torch without axes.
        whose: the component that logs them, for the message.

    Raises:
        BrokenPlugin: for anything but a mapping of texts to numbers.
    """
    if not isinstance(found, Mapping):
        raise BrokenPlugin(f"{whose} gave {found!r:.80} to log. Give numbers by tag, a dict.")
    row = {}
    for tag, value in found.items():
        if type(value) is not float:
            value = own_number(value)
        if not isinstance(tag, str) or not isinstance(value, (int, float)):
            raise BrokenPlugin(
                f"{whose} gave {value!r:.80} to log as {tag!r}. Tags are texts, and values single "
                "numbers: float(…) of what has one, its mean where there are several. Print or "
                "save anything else yourself."
            )
        row[tag] = value
    return row


def numbers_of(source: Callable[[], Any]) -> dict[str, float]:
    """The numbers that a function gives to be logged; BrokenPlugin, naming it, for others."""
    name = getattr(source, "__qualname__", None)  # a partial has none
    return as_numbers(source(), repr(source) if name is None else f"{source.__module__}.{name}")


def shortest(number: float) -> float:
    """Of the numbers that are equal in float32, the one with the fewest digits.

    So 0.2 is logged as it was set, though its tensor holds 0.20000000298.
    """
    return float(str(np.float32(number)))


def giving_numbers(listener: Listener, plugin: str) -> Listener:
    """A listener of `rlk_log` of that plugin, after whose call the row is checked."""

    @functools.wraps(listener)
    def listens(**arguments: Any) -> None:
        answer, row = listener(**arguments), arguments["row"]
        if answer is not None:
            raise BrokenPlugin(
                f"plugin {plugin!r} answered rlk_log with {answer!r:.80}, which nobody reads. "
                "Put numbers into the row that it is given: row[tag] = number."
            )
        row.update(as_numbers(row, f"plugin {plugin!r} (rlk_log)"))

    return listens
