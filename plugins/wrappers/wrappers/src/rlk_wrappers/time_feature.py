"""`time-feature`: adds the remaining part of an episode to observations.

Pardo et al. 2018, arXiv 1712.00378, "time-aware" agents: if a time limit ends episodes, the value
of a state depends on the remaining time, which observations do not show. N environments.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import batch_space

from rlk.records import Array
from rlk_wrappers.config_observations import TimeFeatureConfig
from rlk_wrappers.layer import Result, State, VectorLayer, final_observations, with_observations
from rlk_wrappers.main_part import main_box, main_of, with_main

TITLE = "wrapper 'time-feature' (rlk-wrappers)"


class TimeFeature(VectorLayer):
    """Appends 1 - steps / T to observations: 1 at the start of an episode, 0 at its time limit.

    T is the environment's own limit (`spec.max_episode_steps`, or a `TimeLimit` around it), else
    `max_steps`. Both count the environment's own steps, several of which are one step with
    `action-repeat`. Integer observations become floats.
    """

    name = "time-feature"

    def __init__(
        self, env: VectorEnv[Any, Any, Any], config: TimeFeatureConfig | None = None, **_: Any
    ) -> None:
        super().__init__(env)
        self._config = config = config or TimeFeatureConfig()
        space = env.single_observation_space
        self.single_observation_space, _ = self.vector_spaces(
            space, env.single_action_space, config
        )
        self.observation_space = batch_space(self.single_observation_space, env.num_envs)
        box = main_box(self.single_observation_space, TITLE)
        # Two arrays take turns, so that a returned observation stays valid during the next step.
        self._rows = [np.zeros((env.num_envs, *box.shape), box.dtype) for _ in range(2)]
        self._steps = np.zeros(env.num_envs, np.int64)
        repeats = [repeat or 1 for repeat in _asked(env, "rlk_action_repeat")]
        self._limit = np.array(_limits(env, config.max_steps)) / repeats

    @staticmethod
    def vector_spaces(
        observation_space: Any, action_space: Any, config: TimeFeatureConfig
    ) -> tuple[Any, Any]:
        """The spaces of one environment; PlanError unless observations are one-dimensional."""
        box = main_box(observation_space, TITLE)
        dtype: Any = np.result_type(box.dtype, np.float32)
        low, high = np.append(box.low, 0.0).astype(dtype), np.append(box.high, 1.0).astype(dtype)
        row = spaces.Box(low, high, dtype=dtype.type)
        return with_main(observation_space, row), action_space

    def _begun(self, observation: Any, which: Array) -> Any:
        self._steps[which] = 0
        return self._with_feature(observation)

    def _stepped(self, actions: Any, result: Result) -> Result:
        self._steps += 1
        finals = {}
        for env, final in final_observations(result).items():
            row = np.append(main_of(final), self._feature()[env]).astype(self._rows[0].dtype)
            finals[env] = with_main(final, row)
        self._steps[list(finals)] = 0
        return with_observations(result, self._with_feature(result[0]), finals)

    def _with_feature(self, observation: Any) -> Any:
        self._rows.reverse()
        rows = self._rows[0]
        rows[:, :-1] = main_of(observation)
        rows[:, -1] = self._feature()
        return with_main(observation, rows)

    def _feature(self) -> Array:
        """The remaining part of every episode, from 1 to 0, float64 [N]."""
        if self._config.test_mode:
            return np.ones(self.num_envs)
        return np.maximum(1.0 - self._steps / self._limit, 0.0)

    def _own_state(self) -> list[State]:
        return [{"steps": steps} for steps in self._steps.tolist()]

    def _take_state(self, states: list[State]) -> None:
        self._steps[:] = [state["steps"] for state in states]


def _limits(env: Any, otherwise: int) -> list[int]:
    """The number of steps after which each environment truncates its episodes."""
    specs = [spec or env.spec for spec in _asked(env, "spec")]  # of each, or of the vector
    limits = [spec.max_episode_steps if spec else None for spec in specs]
    around = _asked(env, "_max_episode_steps")  # of a TimeLimit around one without spec
    pairs = zip(limits, around, strict=True)
    return [int(limit or outside or otherwise) for limit, outside in pairs]


def _asked(env: Any, name: str) -> list[Any]:
    """That attribute of every environment; None if it is missing or cannot be asked for."""
    try:
        if all(env.call("has_wrapper_attr", name)):
            return list(env.get_attr(name))
    except (AttributeError, NotImplementedError):  # a vector without single environments
        pass
    return [None] * env.num_envs
