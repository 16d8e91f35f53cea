"""What a call plan assumes about a batch, apart from its tensors."""

from __future__ import annotations

import contextlib
import types
from typing import Any

from rlk_compile.call_plan import BATCH
from rlk_compile.conditions import Conditions, described

#: It is looked at before a program is chosen.
_KEY = f"{BATCH}.key"
#: How conditions on a batch begin.
_OF_BATCH = (BATCH, f"hasattr({BATCH}")


class Structure:
    """The class of a batch, and what the trace read of it: keys of a mapping, None, a number.

    These are compared at every update, because batches of several kinds may alternate; most
    updates read nothing but tensors. A batch of another structure is another case of the update.

    Args:
        batch: one that the conditions hold for. conditions: of a call plan.
    """

    def __init__(self, batch: Any, conditions: Conditions) -> None:
        self._class = type(batch)
        self._facts: list[tuple[types.CodeType, Any]] = []
        for place in conditions:
            if place.startswith(_OF_BATCH) and place not in (BATCH, _KEY):
                code = compile(place, "<condition>", "eval")
                with contextlib.suppress(Exception):  # one that needs more names is checked later
                    self._facts.append((code, _fact(_found(code, batch))))

    def fits(self, batch: Any) -> bool:
        """Whether a batch has this structure.

        Raises:
            AttributeError, LookupError, TypeError: if it lacks a part of it.
        """
        if type(batch) is not self._class:
            return False
        return all(_fact(_found(code, batch)) == fact for code, fact in self._facts)


def _found(code: types.CodeType, batch: Any) -> Any:
    return eval(code, {"L": {"batch": batch}})


def _fact(value: Any) -> Any:
    """As the value's description, and faster to make for a dict."""
    return tuple(value) if type(value) is dict else described(value)
