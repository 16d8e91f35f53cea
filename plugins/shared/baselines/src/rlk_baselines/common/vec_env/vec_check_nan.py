"""`VecCheckNan`: finds where NaN and infinity enter the training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlk.program_warnings import warn_program
from rlk_baselines.common.vec_env.base_vec_env import Stepped, VecEnv, VecEnvWrapper


class VecCheckNan(VecEnvWrapper):
    """Checks actions, observations and rewards for NaN and infinity.

    The message says which of them is not finite, and what came before it.

    Args:
        venv: the vector.
        raise_exception: whether to raise ValueError instead of warning.
        warn_once: whether to warn only the first time.
        check_inf: whether to look for infinity as well as NaN.
    """

    def __init__(
        self,
        venv: VecEnv,
        raise_exception: bool = False,
        warn_once: bool = True,
        check_inf: bool = True,
    ) -> None:
        super().__init__(venv)
        self.raise_exception, self.warn_once, self.check_inf = raise_exception, warn_once, check_inf
        self._actions: Any = None
        self._observations: Any = None
        self._has_warned = False

    def reset(self) -> Any:
        """As in `VecEnv`."""
        self._actions = None
        observations = self.venv.reset()
        self._check("environment", observations=observations)
        self._observations = observations
        return observations

    def step_async(self, actions: Any) -> None:
        """As in `VecEnv`."""
        self._check("RL model", actions=actions)
        self._actions = actions
        self.venv.step_async(actions)

    def step_wait(self) -> Stepped:
        """As in `VecEnv`."""
        observations, rewards, dones, infos = self.venv.step_wait()
        self._check("environment", observations=observations, rewards=rewards)
        self._observations = observations
        return observations, rewards, dones, infos

    def _check(self, source: str, **values: Any) -> None:
        """Raise or warn if one of the values, which come from `source`, is not finite."""
        if self._has_warned and self.warn_once and not self.raise_exception:
            return
        found = [text for name, value in values.items() for text in self._bad(name, value)]
        if not found:
            return
        self._has_warned = True
        last = f"the last actions were {self._actions!r}" if self._actions is not None else ""
        before = f"the last observations were {self._observations!r}"
        came_after = last if source == "environment" and last else before
        message = f"found {', '.join(found)}. It came from the {source}; {came_after}"
        if self.raise_exception:
            raise ValueError(message)
        warn_program(message)

    def _bad(self, name: str, value: Any) -> list[str]:
        """Descriptions of NaN and infinity in an array, or in the parts of a dict or tuple."""
        if isinstance(value, Mapping):
            return [
                text for key, part in value.items() for text in self._bad(f"{name}[{key!r}]", part)
            ]
        if isinstance(value, tuple):
            return [
                text for i, part in enumerate(value) for text in self._bad(f"{name}[{i}]", part)
            ]
        array = np.asarray(value)
        if array.dtype.kind != "f":
            return []
        found = ["NaN in " + name] if np.isnan(array).any() else []
        if self.check_inf and np.isinf(array).any():
            found.append("inf in " + name)
        return found
