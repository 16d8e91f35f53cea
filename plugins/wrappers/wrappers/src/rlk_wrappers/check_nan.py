"""`check-nan`: says where a non-finite number came from (`VecCheckNan`). N environments."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv

from rlk.errors import NotFinite
from rlk.records import Array
from rlk_wrappers.config_steps import CheckNanConfig
from rlk_wrappers.layer import Result, VectorLayer, final_observations


class NotFiniteValue(NotFinite, ValueError):
    """NaN or infinity in an action, an observation or a reward."""


class CheckNan(VectorLayer):
    """Checks actions before they are taken, and the observations and rewards that follow.

    For a non-finite number it warns, or with `raise_exception` raises NotFiniteValue, with the
    number, the environment, and the action that led there. A non-finite action is the policy's.
    """

    name = "check-nan"

    def __init__(
        self, env: VectorEnv[Any, Any, Any], config: CheckNanConfig | None = None, **_: Any
    ) -> None:
        super().__init__(env)
        self._config = config or CheckNanConfig()
        self._warned = False
        self._seen: Any = None

    def _begun(self, observation: Any, which: Array) -> Any:
        self._check("observation", observation, "reset() gave it")
        self._seen = observation
        return observation

    def _before(self, actions: Any) -> None:
        self._check("action", actions, "the policy chose it for the observation", self._seen)

    def _stepped(self, actions: Any, result: Result) -> Result:
        observation, reward, terminated, truncated, _ = result
        for env, final in final_observations(result).items():
            row = _batch_of_one(final)
            self._check("observation", row, "it ended an episode after the action", actions, env)
        began = np.logical_or(terminated, truncated)
        self._check("observation", observation, "it followed the action", actions, began=began)
        self._check("reward", reward, "it followed the action", actions)
        self._seen = observation
        return result

    def _check(
        self,
        what: str,
        value: Any,
        cause: str,
        before: Any = None,
        first: int = 0,
        *,
        began: Array | None = None,
    ) -> None:
        """Warn or raise if a batch has a non-finite number.

        Args:
            value: [n, ...], or a dict or tuple of such arrays.
            cause: where the number came from; `before` is shown after it.
            first: the index of the environment in the first row.
            began: where a new episode began instead, bool [n].
        """
        for key, array in _arrays(value):
            wrong = np.isnan(array) if not self._config.check_inf else ~np.isfinite(array)
            if not wrong.any():
                continue
            row = int(np.argwhere(wrong)[0][0])
            found = "nan" if np.isnan(array[row]).any() else "inf"
            env = first + row
            if began is not None and began[row]:
                why = "reset() gave it, after an episode had ended"
            else:
                why = cause if before is None else f"{cause} {_row(before, env)}"
            self._tell(f"check-nan found {found} in the {what}{key} of environment {env}: {why}.")

    def _tell(self, message: str) -> None:
        if self._config.raise_exception:
            raise NotFiniteValue(message)
        if not (self._warned and self._config.warn_once):
            warnings.warn(message, stacklevel=2)
        self._warned = True


def _arrays(value: Any, key: str = "") -> Iterator[tuple[str, Array]]:
    """The arrays of floating point numbers in a value, each with its place in the value."""
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield from _arrays(part, f"{key}[{name!r}]")
    elif isinstance(value, tuple):
        for index, part in enumerate(value):
            yield from _arrays(part, f"{key}[{index}]")
    else:
        array = np.asarray(value)
        if array.dtype.kind == "f":
            yield key, array


def _batch_of_one(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _batch_of_one(part) for key, part in value.items()}
    if isinstance(value, tuple):
        return tuple(map(_batch_of_one, value))
    return np.asarray(value)[None]


def _row(value: Any, env: int) -> Any:
    """The part of a batch that belongs to one environment."""
    if isinstance(value, Mapping):
        return {key: _row(part, env) for key, part in value.items()}
    if isinstance(value, tuple):
        return tuple(_row(part, env) for part in value)
    return np.asarray(value)[env].tolist()
