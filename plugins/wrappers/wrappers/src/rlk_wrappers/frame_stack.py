"""`frame-stack`: observations are the latest frames (Stable Baselines' `VecFrameStack`)."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import batch_space

from rlk.errors import PlanError
from rlk.records import Array
from rlk.spaces import describe
from rlk_wrappers.config_observations import FrameStackConfig
from rlk_wrappers.frames import Frames, Layout, layout_of
from rlk_wrappers.layer import Result, State, VectorLayer, final_observations, with_observations

TITLE = "wrapper 'frame-stack' (rlk-wrappers)"
#: Keys of a goal environment's goals; rewards are computed from them, so they are not stacked.
GOALS = ("achieved_goal", "desired_goal")
#: The key that stands for an observation that is not a dict.
_WHOLE = ""


class FrameStack(VectorLayer):
    """Stacks the latest `n_stack` observations of every environment, the oldest first.

    N environments, k frames. An episode begins with zeros and its first frame, or with
    `padding="reset"` with k copies of its first frame. Final observations are stacked too.

    Attributes:
        stack_size: k, which tells a replay to store every frame once.
    """

    name = "frame-stack"

    def __init__(
        self, env: VectorEnv[Any, Any, Any], config: FrameStackConfig | None = None, **_: Any
    ) -> None:
        super().__init__(env)
        config = config or FrameStackConfig()
        space, action_space = env.single_observation_space, env.single_action_space
        self.stack_size = config.n_stack
        self.single_observation_space, _ = self.vector_spaces(space, action_space, config)
        self.observation_space = batch_space(self.single_observation_space, env.num_envs)
        self._is_dict = isinstance(space, spaces.Dict)
        self._parts = {
            key: Frames(part, layout, env.num_envs, repeat=config.padding == "reset")
            for key, (part, layout) in _stacked(space, config).items()
        }

    @staticmethod
    def vector_spaces(
        observation_space: Any, action_space: Any, config: FrameStackConfig
    ) -> tuple[Any, Any]:
        """The spaces of one environment.

        Raises:
            PlanError: if there is nothing to stack, or `keys` or `channels_order` does not fit the
                observations.
        """
        with_zero = config.padding == "zero"
        made = {
            key: layout.space(part, with_zero)
            for key, (part, layout) in _stacked(observation_space, config).items()
        }
        if _WHOLE in made:
            return made[_WHOLE], action_space
        return spaces.Dict({**observation_space.spaces, **made}), action_space

    def _begun(self, observation: Any, which: Array) -> Any:
        parts = self._by_key(observation)
        return self._joined(
            observation, {key: part.begin(parts[key], which) for key, part in self._parts.items()}
        )

    def _stepped(self, actions: Any, result: Result) -> Result:
        observation, finals = result[0], final_observations(result)
        parts, ends = self._by_key(observation), {e: self._by_key(o) for e, o in finals.items()}
        stacked: dict[str, Array] = {}
        for key, part in self._parts.items():
            last = {env: np.asarray(end[key]) for env, end in ends.items()}
            stacked[key], ended = part.follow(parts[key], last)
            finals = {env: self._joined(o, {key: ended[env]}) for env, o in finals.items()}
        return with_observations(result, self._joined(observation, stacked), finals)

    def _by_key(self, observation: Any) -> Any:
        return observation if self._is_dict else {_WHOLE: observation}

    def _joined(self, observation: Any, stacked: dict[str, Array]) -> Any:
        """An observation in which stacks replace their frames."""
        return {**observation, **stacked} if self._is_dict else stacked[_WHOLE]

    def _own_state(self) -> list[State]:
        states = {key: part.state() for key, part in self._parts.items()}
        return [{key: state[env] for key, state in states.items()} for env in range(self.num_envs)]

    def _take_state(self, states: list[State]) -> None:
        for key, part in self._parts.items():
            part.load([state[key] for state in states])


def _stacked(space: Any, config: FrameStackConfig) -> dict[str, tuple[spaces.Box, Layout]]:
    """By key: the Boxes whose frames are stacked, and their layout."""
    is_dict = isinstance(space, spaces.Dict)
    if config.keys is not None and not is_dict:
        raise PlanError(
            f"{TITLE}: keys={list(config.keys)} names keys of a Dict, but observations are "
            f"{describe(space)}. Leave it out."
        )
    parts = space.spaces if is_dict else {_WHOLE: space}
    unasked = [key for key, part in parts.items() if _is_frame(part) and key not in GOALS]
    keys = unasked if config.keys is None else config.keys
    for key in keys:
        if key not in parts or not _is_frame(parts[key]):
            found = describe(parts[key]) if key in parts else f"not one of {list(parts)}"
            raise PlanError(f"{TITLE} stacks keys that are a Box, but {key!r} is {found}.")
    if not keys:
        raise PlanError(
            f"{TITLE} stacks a Box, but observations are {describe(space)}. Leave it out, or wrap "
            "the environment (gymnasium.wrappers.FlattenObservation)."
        )
    order = config.channels_order
    if order is not None and not any(len(parts[key].shape) in (2, 3) for key in keys):
        raise PlanError(
            f"{TITLE}: channels_order={order} is for images, and none of the observations that it "
            f"stacks has two or three axes ({describe(space)}). Leave it out."
        )
    return {key: (parts[key], layout_of(parts[key].shape, config.n_stack, order)) for key in keys}


def _is_frame(space: Any) -> bool:
    return isinstance(space, spaces.Box) and len(space.shape) > 0
