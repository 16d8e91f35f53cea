"""`TimeFeatureWrapper`: adds the remaining part of an episode to observations.

Pardo et al. 2018, arXiv 1712.00378. rlk's own wrapper `time-feature` does it for vectors.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from rlk_baselines.refusals import refused
from rlk_wrappers.main_part import main_box, main_of, with_main


class TimeFeatureWrapper(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Appends 1 - steps / T to observations: 1 at the start of an episode, 0 at its time limit.

    Deviation: it stays 0 after `max_steps`, and becomes negative in sb3-contrib.

    Args:
        env: the environment; its observations are a Box of one axis, or a Dict with one under
            `observation`.
        max_steps: T, if the environment has no time limit of its own.
        test_mode: whether to append 1 at every step, to see if an agent relies on the time alone.

    Raises:
        Refused: for other observations.
    """

    def __init__(
        self, env: gymnasium.Env[Any, Any], max_steps: int = 1000, test_mode: bool = False
    ) -> None:
        super().__init__(env)
        with refused():
            box = main_box(env.observation_space, "TimeFeatureWrapper")
        low, high = np.append(box.low, 0.0), np.append(box.high, 1.0)
        self._dtype: Any = box.dtype
        row = spaces.Box(low.astype(self._dtype), high.astype(self._dtype), dtype=self._dtype.type)
        self.observation_space = with_main(env.observation_space, row)
        limit = None if env.spec is None else env.spec.max_episode_steps
        self._limit, self._steps, self._test_mode = limit or max_steps, 0, test_mode

    def reset(self, **keywords: Any) -> tuple[Any, dict[str, Any]]:
        self._steps = 0
        observation, info = self.env.reset(**keywords)
        return self._with_feature(observation), info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        self._steps += 1
        observation, *rest = self.env.step(action)
        return self._with_feature(observation), *rest

    def _with_feature(self, observation: Any) -> Any:
        left = 1.0 if self._test_mode else max(1.0 - self._steps / self._limit, 0.0)
        return with_main(observation, np.append(main_of(observation), left).astype(self._dtype))
