"""`Env` and `Wrapper` with gym's old interface, and what converts Gymnasium's results to it.

They are subclasses of Gymnasium's classes.
"""

from __future__ import annotations

import secrets
from abc import abstractmethod
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.spaces import Dict, Space

from rlk.errors import PlanError
from rlk_baselines.environments.window import show
from rlk_old_gym.five_values import TRUNCATED

__all__ = [
    "ActionWrapper",
    "Env",
    "GoalEnv",
    "ObservationWrapper",
    "RewardWrapper",
    "Space",
    "Wrapper",
]


def old_result(step: Any) -> tuple[Any, float, bool, dict[str, Any]]:
    """The result of a step of Gymnasium as gym has it: (observation, reward, done, info).

    The last info of a truncated episode has `TimeLimit.truncated`.
    """
    observation, reward, terminated, truncated, info = step
    if truncated and not terminated:
        info = {**info, TRUNCATED: True}
    return observation, float(reward), bool(terminated or truncated), info


def next_seed(seed: int | None, action_space: Any) -> int:
    """The seed of the next reset, with which the action space is seeded, too; None draws one."""
    seed = secrets.randbits(31) if seed is None else seed
    action_space.seed(seed)
    return seed


def shown(frame: Any, mode: str) -> Any:
    """A frame of Gymnasium; for `human`, it is shown instead, if there is a display."""
    return show(np.asarray(frame)) if mode == "human" and frame is not None else frame


class Env(gymnasium.Env[Any, Any]):
    """An environment whose `reset` returns an observation, and whose `step` returns four values."""

    metadata: ClassVar[dict[str, Any]] = {"render.modes": [], "render_modes": []}  # type: ignore[misc]
    reward_range = (-float("inf"), float("inf"))

    def __init_subclass__(cls, **keywords: Any) -> None:
        """Declare the render modes by Gymnasium's name, too: Gymnasium warns without it."""
        super().__init_subclass__(**keywords)
        own: Any = cls.metadata  # in a wrapper, this is a property
        if isinstance(own, dict) and "render_modes" not in own:
            cls.metadata = {**own, "render_modes": list(own.get("render.modes", []))}

    @abstractmethod
    def step(self, action: Any) -> Any:
        """Make one step: (observation, reward, done, info)."""
        raise NotImplementedError

    @abstractmethod
    def reset(self, **kwargs: Any) -> Any:
        """Start an episode: its first observation."""
        raise NotImplementedError

    def render(self, mode: str = "human") -> Any:
        """Show the environment, or return a frame, uint8 [H, W, 3], for `rgb_array`."""
        raise NotImplementedError(f"{type(self).__name__} does not render")

    def seed(self, seed: int | None = None) -> Any:
        """Seed the environment's random generators; returns the seeds."""
        return [seed]


class GoalEnv(Env):
    """A goal environment: its Dict has `observation`, `achieved_goal` and `desired_goal`."""

    def reset(self, **kwargs: Any) -> Any:
        """Check the observation space; subclasses call this by `super().reset()`.

        Raises:
            PlanError: if the space is not a Dict, or a key is missing.
        """
        space = self.observation_space
        if not isinstance(space, Dict):
            raise PlanError(f"a GoalEnv has a Dict of observations, got {space}.")
        for key in ("observation", "achieved_goal", "desired_goal"):
            if key not in space.spaces:
                raise PlanError(f"a GoalEnv's observations have {key!r}, and here it is missing.")

    @abstractmethod
    def compute_reward(self, achieved_goal: Any, desired_goal: Any, info: Any) -> Any:
        """The reward for reaching `achieved_goal` when `desired_goal` was wanted."""
        raise NotImplementedError


class Wrapper(gymnasium.Wrapper[Any, Any, Any, Any], Env):
    """A wrapper around an environment, both with gym's old interface.

    Args:
        env: the environment; one with Gymnasium's interface is converted to gym's.
    """

    gives_four_values = True  #: see `rlk_old_gym.interface.is_old`

    def __init__(self, env: Any) -> None:
        from rlk_baselines.gym.making import four_values

        super().__init__(four_values(env))

    @property
    def reward_range(self) -> Any:
        """The smallest and the largest reward: as set here, or else those of the environment."""
        return vars(self).get("_reward_range", getattr(self.env, "reward_range", Env.reward_range))

    @reward_range.setter
    def reward_range(self, value: Any) -> None:
        vars(self)["_reward_range"] = value

    def step(self, action: Any) -> Any:
        return self.env.step(action)

    def reset(self, **kwargs: Any) -> Any:
        return self.env.reset(**kwargs)

    def render(self, mode: str = "human", **kwargs: Any) -> Any:
        """Render the environment."""
        return self.env.render(mode, **kwargs)  # type: ignore[call-arg]

    def seed(self, seed: int | None = None) -> Any:
        """Seed the environment."""
        return self.env.seed(seed)  # type: ignore[attr-defined]

    def compute_reward(self, achieved_goal: Any, desired_goal: Any, info: Any) -> Any:
        """The reward that the environment computes for goals."""
        return self.env.compute_reward(achieved_goal, desired_goal, info)  # type: ignore[attr-defined]

    def __getattr__(self, name: str) -> Any:
        """The attribute of the environment."""
        if name.startswith("_") or name == "env":
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return getattr(self.env, name)


class ObservationWrapper(Wrapper):
    """Changes observations by the method `observation`."""

    def reset(self, **kwargs: Any) -> Any:
        return self.observation(self.env.reset(**kwargs))

    def step(self, action: Any) -> Any:
        observation, reward, done, info = self.env.step(action)  # type: ignore[misc]
        return self.observation(observation), reward, done, info

    @abstractmethod
    def observation(self, observation: Any) -> Any:
        """The observation to return instead."""
        raise NotImplementedError


class RewardWrapper(Wrapper):
    """Changes rewards by the method `reward`."""

    def step(self, action: Any) -> Any:
        observation, reward, done, info = self.env.step(action)  # type: ignore[misc]
        return observation, self.reward(reward), done, info

    @abstractmethod
    def reward(self, reward: Any) -> Any:
        """The reward to return instead."""
        raise NotImplementedError


class ActionWrapper(Wrapper):
    """Changes actions by the method `action`."""

    def step(self, action: Any) -> Any:
        return self.env.step(self.action(action))

    @abstractmethod
    def action(self, action: Any) -> Any:
        """The action to pass to the environment instead."""
        raise NotImplementedError
