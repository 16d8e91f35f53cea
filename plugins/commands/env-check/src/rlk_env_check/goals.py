"""Goal environments: checks that the reward is a function of goals, as hindsight needs it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from rlk_env_check.actions import sampled
from rlk_env_check.finding import Finding, error, note, warning

KEYS = ("achieved_goal", "desired_goal")
_ROWS = 3


def findings(env: gym.Env[Any, Any], steps: int) -> Iterator[Finding]:
    """Findings about an environment with goals, or with a reward that needs them.

    Args:
        env: the environment.
        steps: how many steps of an episode to play at most.
    """
    space = env.observation_space
    observed = space.spaces if isinstance(space, spaces.Dict) else {}
    missing = " and no ".join(key for key in KEYS if key not in observed)
    if missing:
        if env.has_wrapper_attr("compute_reward"):
            yield warning(
                f"it has compute_reward(), but its observations have no {missing}: hindsight "
                "cannot be used. Let observation_space be a Dict of observation, achieved_goal and "
                "desired_goal."
            )
        return
    if observed["achieved_goal"] != observed["desired_goal"]:
        yield error(
            "achieved_goal and desired_goal must have the same space, because hindsight replaces "
            "one by the other."
        )
        return
    if not env.has_wrapper_attr("compute_reward"):
        yield error(
            "a goal environment must have compute_reward(achieved_goal, desired_goal, info), with "
            "which hindsight computes the rewards for other goals."
        )
        return
    yield from _compute_reward(env, steps)


def _compute_reward(env: gym.Env[Any, Any], steps: int) -> Iterator[Finding]:
    """Findings in the steps of one episode, of which only the last may give a reward."""
    compute = env.get_wrapper_attr("compute_reward")
    env.reset(seed=7)
    for number in range(steps):
        observation, reward, terminated, truncated, info = env.step(sampled(env))
        achieved, desired = observation["achieved_goal"], observation["desired_goal"]
        try:
            found = compute(achieved, desired, info)
            together = _of_rows(compute, achieved, desired, info) if number == 0 else None
        except Exception as problem:
            yield error(f"compute_reward() raised {type(problem).__name__}: {problem}.")
            return
        if np.shape(found) != () or not np.isclose(float(found), float(reward)):
            yield error(
                f"compute_reward() of a step gives {found!r:.60}, but step() gave the reward "
                f"{reward}. They must be the same number."
            )
            return
        if together is not None:
            yield from _rows(together, float(found))
        if terminated or truncated:
            break
    if "is_success" not in info:
        yield note("infos have no is_success: no success rate is reported.")


def _of_rows(compute: Any, achieved: Any, desired: Any, info: Any) -> Any:
    rows = [np.stack([goal] * _ROWS) for goal in (achieved, desired)]
    return np.asarray(compute(*rows, np.array([info] * _ROWS, dtype=object)))


def _rows(together: Any, found: float) -> Iterator[Finding]:
    """Whether several goals at once have the reward of each."""
    if together.shape != (_ROWS,) or not np.allclose(together, found):
        yield warning(
            f"compute_reward() of {_ROWS} goals at once gives {together!r:.60} instead of {_ROWS} "
            "rewards: hindsight then computes one at a time, which is slower."
        )
