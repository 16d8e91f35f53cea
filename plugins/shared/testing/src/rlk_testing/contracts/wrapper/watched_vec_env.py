"""A vector environment that remembers, to test wrappers around it."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from rlk.records import Array
from rlk_testing.stand_ins import StandInVecEnv


class WatchedVecEnv(StandInVecEnv):
    """Remembers what it was asked for and what it returned.

    Attributes:
        resets: seed and options of every reset.
        returned: a copy of the result of every reset and step.
    """

    def __init__(self, env_fns: Sequence[Any], info_keys: Sequence[str] = ()) -> None:
        super().__init__(env_fns, info_keys)
        self.resets: list[tuple[Any, dict[str, Any]]] = []
        self.returned: list[Any] = []
        self._lent: list[tuple[str, Array, Array]] = []

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> Any:
        self.resets.append((seed, dict(options or {})))
        return self._remembered(super().reset(seed=seed, options=options), ("observation", "infos"))

    def step(self, actions: Any) -> Any:
        names = ("observation", "reward", "terminated", "truncated", "infos")
        return self._remembered(super().step(actions), names)

    def overwritten(self) -> set[str]:
        """The names of the returned arrays that do not hold any more what they did."""
        return {name for name, now, then in self._lent if not np.array_equal(now, then)}

    def _remembered(self, result: Any, names: Sequence[str]) -> Any:
        self.returned.append(copy.deepcopy(result))
        for name, part in zip(names, result, strict=True):
            self._lent += [(where, array, array.copy()) for where, array in _arrays(name, part)]
        return result


def _arrays(where: str, value: Any) -> Iterator[tuple[str, Array]]:
    """The arrays of numbers in a value, by their place; of an array of objects, those in it."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _arrays(f"{where}[{key!r}]", part)
    elif isinstance(value, np.ndarray) and value.dtype == object:
        for part in value:
            yield from _arrays(where, part)
    elif isinstance(value, np.ndarray):
        yield where, value
