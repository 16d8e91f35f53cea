"""`action-masks`: adds an environment's masks to its observations. M options: see `masks.py`."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from rlk.errors import PlanError
from rlk.records import Array
from rlk_action_masking.masks import TITLE, mask_check, observation_with_mask, options, with_mask
from rlk_action_masking.vector import VectorActionMasks

METHOD = "action_masks"


class ActionMasks(gym.Wrapper[dict[str, Any], Any, Any, Any]):
    """Observations become {observation, action_mask}; a Dict gets the additional key `action_mask`.

    The mask, int8 [M], belongs to the observed state. The last observation of a terminated episode
    allows everything, because no action follows: the environment is not asked.

    Args:
        env: an environment with a method `action_masks()`, its own or a wrapper's.

    Raises:
        PlanError: if it has no such method, its actions have no finite number of options, or a
            wrapper repeats every action (`action-repeat`).
    """

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        self.observation_space = with_mask(env.observation_space, env.action_space)
        if not env.has_wrapper_attr(METHOD):
            name = type(env.unwrapped).__name__ if env.spec is None else env.spec.id
            raise PlanError(
                f"{TITLE} asks the environment which actions are allowed, but {name!r} has no "
                f"method {METHOD}(). Give it one that returns bool [{self._size()}], put a wrapper "
                "around it that has one, or train without action-masking."
            )
        _check_not_repeated(env)
        self._ask = env.get_wrapper_attr(METHOD)
        self._checked = mask_check(env.action_space)

    def _size(self) -> int:
        return sum(options(self.env.action_space))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options=options)
        return observation_with_mask(observation, self._checked(self._ask())), info

    def step(self, action: Any) -> tuple[dict[str, Any], Any, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        mask = self._everything() if terminated else self._checked(self._ask(), bool(truncated))
        return observation_with_mask(observation, mask), reward, terminated, truncated, info

    def _everything(self) -> Array:
        return np.ones(self._size(), np.int8)

    # ---- a vector that was passed (`rlk.abilities.WrapsVectors`) ---------------------------------

    @staticmethod
    def vector_spaces(observation_space: Any, action_space: Any) -> tuple[Any, Any]:
        """The spaces of one environment of `around_vector`."""
        return with_mask(observation_space, action_space), action_space

    @staticmethod
    def around_vector(env: Any) -> VectorActionMasks:
        """The same around a vector environment that a program passes."""
        return VectorActionMasks(env)


def _check_not_repeated(env: gym.Env[Any, Any]) -> None:
    """PlanError if one step takes an action several times: a mask is of the first of them alone."""
    repeats = "rlk_action_repeat"
    if env.has_wrapper_attr(repeats) and (times := env.get_wrapper_attr(repeats)) > 1:
        raise PlanError(
            f"{TITLE} asks before each step which actions are allowed, but 'action-repeat' in it "
            f"takes an action {times} times, and after the first the environment may forbid it. "
            "Leave out --plugin action-repeat, or repeat actions in the environment, as long as it "
            "allows them."
        )
