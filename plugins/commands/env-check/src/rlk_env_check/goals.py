"""Goal environments: checks that the reward is a function of goals, as hindsight needs it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from rlk_env_check import actions
from rlk_env_check.finding import Finding, error, note, warning
from rlk_env_check.play import SEED, called

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
    called("reset", env.reset, seed=SEED)
    for number in range(steps):
        action = called(actions.METHOD, actions.sampled, env)
        observation, reward, terminated, truncated, info = called("step", env.step, action)
        pair = [observation[key] for key in KEYS]
        try:
            found = compute(*pair, info)
        except Exception as problem:
            yield error(f"compute_reward() raised {type(problem).__name__}: {problem}.")
            return
        if not _is_number(found) or not np.isclose(float(found), float(reward)):
            yield error(
                f"compute_reward() of a step gives {found!r:.60}, but step() gave the reward "
                f"{reward}. They must be the same number."
            )
            return
        if number == 0:
            yield from _batch(compute, pair, info, float(found))
        if terminated or truncated:
            break
    if "is_success" not in info:
        yield note("infos have no is_success: no success rate is reported.")


def _batch(compute: Any, pair: Any, info: Any, found: float) -> Iterator[Finding]:
    """Whether several pairs of goals at once have the reward of each, as hindsight gives them."""
    rows = [np.stack([goal] * _ROWS) for goal in pair]
    infos = {key: np.array([value] * _ROWS) for key, value in info.items() if _is_number(value)}
    try:
        together = np.asarray(compute(*rows, infos))
        if together.shape == (_ROWS,) and np.allclose(together, found):
            return
        what = f"gives {together!r:.60} instead of {_ROWS} rewards"
    except Exception as problem:
        what = f"raised {type(problem).__name__}: {problem}"
    yield warning(
        f"compute_reward() of {_ROWS} goals at once {what}: hindsight then computes one at a "
        "time, which is slower."
    )


def _is_number(value: Any) -> bool:
    scalar = value[()] if isinstance(value, np.ndarray) else value
    return isinstance(scalar, (int, float, np.number, np.bool_))
