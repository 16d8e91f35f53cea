"""Goal observations concatenated to one array, and back, as Stable Baselines' HER takes them.

Shapes: B observations (or a single one without axis), D numbers of all three parts.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from rlk.records import Array

#: The order of the parts in a row.
KEYS = ("observation", "achieved_goal", "desired_goal")
ENDS = ("low", "high")


class FlatGoals:
    """Concatenates the three parts of a goal environment's observation.

    Attributes:
        space: of the result: a Box [D] for Box parts, a MultiBinary of D bits for MultiBinary
            parts, or a MultiDiscrete of three numbers for Discrete parts.

    Raises:
        ValueError: if a part is missing, or the parts are not all of the same one of these kinds.
    """

    def __init__(self, space: spaces.Space[Any]) -> None:
        held = space.spaces if isinstance(space, spaces.Dict) else {}
        missing = [key for key in KEYS if key not in held]
        if missing:
            raise ValueError(
                f"a goal environment shows a Dict with {', '.join(KEYS)}, but {space} has no "
                f"{' and no '.join(missing)}"
            )
        parts = [held[key] for key in KEYS]
        self._is_discrete = isinstance(parts[0], spaces.Discrete)
        self.space = _joined(parts)
        sizes = [1 if self._is_discrete else int(np.prod(part.shape or ())) for part in parts]
        self._cuts = np.cumsum(sizes)[:-1]

    def row(self, observation: Mapping[str, Any]) -> Array:
        """[D], or [B, D] for a batch."""
        parts = [np.asarray(observation[key]) for key in KEYS]
        if self._is_discrete:
            parts = [part[..., None] for part in parts]
        return np.concatenate(parts, axis=-1)

    def parts(self, row: Array) -> OrderedDict[str, Any]:
        """The observation for a row, [D] or [B, D]."""
        values = np.split(np.asarray(row), self._cuts, axis=-1)
        if self._is_discrete:
            values = [value[..., 0] for value in values]
        return OrderedDict(zip(KEYS, values, strict=True))


def _joined(parts: list[spaces.Space[Any]]) -> spaces.Space[Any]:
    """The space of the result; ValueError if there is none."""
    if all(isinstance(part, spaces.Discrete) and part.start == 0 for part in parts):
        return spaces.MultiDiscrete([part.n for part in parts])  # type: ignore[attr-defined]
    if all(isinstance(part, spaces.MultiBinary) and len(part.shape) == 1 for part in parts):
        return spaces.MultiBinary(sum(part.n for part in parts))  # type: ignore[attr-defined]
    if all(isinstance(part, spaces.Box) and len(part.shape) == 1 for part in parts):
        low, high = (np.concatenate([getattr(one, end) for one in parts]) for end in ENDS)
        return spaces.Box(low, high, dtype=low.dtype.type)
    raise ValueError(
        "observation and goals make a row only if all of them are a Box of one axis, MultiBinary "
        f"of one axis, or Discrete from 0 on, got {', '.join(map(str, parts))}. Pass the goal "
        "environment as it is: HER needs no wrapper"
    )
