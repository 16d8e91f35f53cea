"""Hands the steps of a run to one component as copies, whose arrays are overwritten in time."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from rlk.records import Step

if TYPE_CHECKING:
    from rlk.running.run import Run

#: The arrays of a step are valid during the next one.
_VALID = 2


def hand_copies(run: Run, name: str, *, overwritten: bool) -> None:
    """Hand copies to what is called with a step: `run.add`, and the plugin's listener of rlk_step.

    Args:
        name: of the plugin.
        overwritten: whether the arrays of a copy are written to as late as those of a vector
            environment may be; without, every copy is for keeps.
    """
    add, stored = run.add, copies(overwritten)
    run.add = lambda step: add(stored(step))
    listeners = run.listeners["rlk_step"]
    listeners[:] = [
        (plugin, _with_copies(listen, overwritten) if plugin == name else listen)
        for plugin, listen in listeners
    ]


def _with_copies(listen: Callable[..., Any], overwritten: bool) -> Callable[..., Any]:
    handed = copies(overwritten)
    return lambda run, step: listen(run=run, step=handed(step))


def copies(overwritten: bool) -> Callable[[Step], Step]:
    """A function that returns copies of steps, and may write to those of earlier calls."""
    kept: deque[Step] = deque()

    def handed(step: Step) -> Step:
        found = copy.deepcopy(step)
        if overwritten:
            kept.append(found)
            if len(kept) > _VALID:
                overwrite(kept.popleft())
        return found

    return handed


def overwrite(part: Any) -> None:
    """Change every number of the arrays in a part of a step."""
    if isinstance(part, np.ndarray):
        part[...] = ~part if part.dtype == bool else part + part.dtype.type(1)
    elif isinstance(part, (Mapping, tuple, list)):
        for one in part.values() if isinstance(part, Mapping) else part:
            overwrite(one)
