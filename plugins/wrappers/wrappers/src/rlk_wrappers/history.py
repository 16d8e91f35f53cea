"""`history`: observations are the latest observations and the actions that led to them.

For environments in which one observation does not show everything, such as velocities. N
environments, h observations, D numbers per action.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import batch_space

from rlk.errors import PlanError
from rlk.records import Array
from rlk.spaces import describe
from rlk_wrappers.config_observations import HistoryConfig
from rlk_wrappers.frames import Frames, layout_of
from rlk_wrappers.layer import Result, State, VectorLayer, final_observations, with_observations
from rlk_wrappers.main_part import main_box, main_of, with_main

TITLE = "wrapper 'history' (rlk-wrappers)"


class History(VectorLayer):
    """An observation is [h observations, h actions], the oldest first: one row of numbers.

    An episode begins with zeros. Action i of a row led to its observation i. Discrete actions are
    one-hot encoded. In a Dict, only the key `observation` is replaced.
    """

    name = "history"

    def __init__(
        self, env: VectorEnv[Any, Any, Any], config: HistoryConfig | None = None, **_: Any
    ) -> None:
        super().__init__(env)
        config = config or HistoryConfig()
        space, action_space = env.single_observation_space, env.single_action_space
        self.single_observation_space, _ = self.vector_spaces(space, action_space, config)
        self.observation_space = batch_space(self.single_observation_space, env.num_envs)
        self._dtype = main_box(self.single_observation_space, TITLE).dtype
        self._numbers = numbers_of(action_space)
        self._observations, self._actions_seen = (
            Frames(box, layout_of(box.shape, config.horizon, None), env.num_envs, repeat=False)
            for box in (main_box(space, TITLE), action_box(action_space))
        )
        self._no_actions = np.zeros((env.num_envs, *action_box(action_space).shape), np.float32)

    @staticmethod
    def vector_spaces(
        observation_space: Any, action_space: Any, config: HistoryConfig
    ) -> tuple[Any, Any]:
        """The spaces of one environment; PlanError unless observations are one-dimensional."""
        boxes = main_box(observation_space, TITLE), action_box(action_space)
        rows = [layout_of(box.shape, config.horizon, None).space(box, True) for box in boxes]
        dtype = np.result_type(*(row.dtype for row in rows))
        low, high = (np.concatenate([getattr(row, b) for row in rows]) for b in ("low", "high"))
        row = spaces.Box(low.astype(dtype), high.astype(dtype), dtype=dtype.type)
        return with_main(observation_space, row), action_space

    def _begun(self, observation: Any, which: Array) -> Any:
        seen = self._observations.begin(main_of(observation), which)
        return self._joined(observation, seen, self._actions_seen.begin(self._no_actions, which))

    def _stepped(self, actions: Any, result: Result) -> Result:
        observation, finals = result[0], final_observations(result)
        last = {env: np.asarray(main_of(final)) for env, final in finals.items()}
        seen, ended = self._observations.follow(main_of(observation), last)
        taken = self._numbers(np.asarray(actions))
        # If an episode ended, the next one begins without an action.
        done = {env: taken[env].copy() for env in finals}
        taken[list(finals)] = 0.0
        acts, acts_ended = self._actions_seen.follow(taken, done)
        finals = {
            env: self._joined(final, ended[env], acts_ended[env]) for env, final in finals.items()
        }
        return with_observations(result, self._joined(observation, seen, acts), finals)

    def _joined(self, observation: Any, seen: Array, taken: Array) -> Any:
        row = np.concatenate([seen, taken], axis=-1, dtype=self._dtype)
        return with_main(observation, row)

    def _own_state(self) -> list[State]:
        both = zip(self._observations.state(), self._actions_seen.state(), strict=True)
        return [{"observations": seen, "actions": taken} for seen, taken in both]

    def _take_state(self, states: list[State]) -> None:
        self._observations.load([state["observations"] for state in states])
        self._actions_seen.load([state["actions"] for state in states])


def action_box(space: Any) -> spaces.Box:
    """The Box of the D numbers that represent an action of a space.

    Raises:
        PlanError: for actions that cannot be represented by numbers.
    """
    if isinstance(space, spaces.Box):
        return spaces.Box(space.low.reshape(-1), space.high.reshape(-1), dtype=np.float32)
    if isinstance(space, (spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)):
        return spaces.Box(0.0, 1.0, (spaces.flatdim(space),), np.float32)
    raise PlanError(
        f"{TITLE} keeps actions that are numbers, but they are {describe(space)}. Leave it out."
    )


def numbers_of(space: Any) -> Callable[[Array], Array]:
    """A function from actions [N, ...] of that space to their numbers, float [N, D]."""
    if not isinstance(space, (spaces.Discrete, spaces.MultiDiscrete)):
        return lambda actions: actions.reshape(len(actions), -1).astype(np.float32)
    sizes = np.reshape(getattr(space, "nvec", getattr(space, "n", 0)), -1)
    starts, size = np.reshape(space.start, -1), int(np.sum(sizes))
    offsets = np.concatenate([[0], np.cumsum(sizes)[:-1]])

    def one_hot(actions: Array) -> Array:
        found = np.zeros((len(actions), size), np.float32)
        columns = actions.reshape(len(actions), -1) - starts + offsets
        np.put_along_axis(found, columns.astype(np.int64), 1.0, axis=1)
        return found

    return one_hot
