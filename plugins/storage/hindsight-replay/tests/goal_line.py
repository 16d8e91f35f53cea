"""A line of places, to test hindsight relabelling: step t leads from place t to place t + 1."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from rlk.records import Schema, Step
from rlk.running.clock import Clock

_PLACE = gym.spaces.Box(-1e6, 1e6, (1,), np.float32)
SPACE = gym.spaces.Dict({"achieved_goal": _PLACE, "desired_goal": _PLACE, "observation": _PLACE})
#: The desired goal of every step.
GOAL = 100.0


class Line:
    """The reward is minus the distance to the goal; the episode terminates at the goal."""

    def get_wrapper_attr(self, name: str) -> Any:
        return getattr(self, name)

    def compute_reward(self, achieved_goal: Any, desired_goal: Any, info: Any) -> Any:
        return -np.abs(achieved_goal - desired_goal).sum(-1)

    def compute_terminated(self, achieved_goal: Any, desired_goal: Any, info: Any) -> Any:
        return (achieved_goal == desired_goal).all(-1)


class EndlessLine(Line):
    """The same without `compute_terminated`: reaching a goal does not end the episode."""

    compute_terminated = property()


def schema_of(world: type[Line], gamma: float) -> Schema:
    """The schema that a storage for one such environment is opened with."""
    return Schema(
        observation_space=SPACE,
        action_space=gym.spaces.Discrete(2),
        n_envs=1,
        n_steps=1,
        gamma=gamma,
        device="cpu",
        rng=np.random.default_rng(0),
        clock=Clock(100),
        make_env=world,
    )


def step_at(t: int, end: str = "") -> Step:
    """The step from place t to t + 1, or to t + 0.5 with an `end`: "terminated" or "truncated"."""
    last = {key: value[0] for key, value in _seen(t + 0.5).items()}
    return Step(
        _seen(t),
        np.zeros(1, np.int64),
        np.array([t + 1 - GOAL], np.float32),
        np.array([end == "terminated"]),
        np.array([end == "truncated"]),
        _seen(t + 1),
        {0: last} if end else {},
        {},
    )


def _seen(place: float) -> dict[str, Any]:
    """The observation of one environment at a place; every part is float [1, 1]."""
    at, goal = np.array([[place]], np.float32), np.array([[GOAL]], np.float32)
    return {"achieved_goal": at, "desired_goal": goal, "observation": at.copy()}
