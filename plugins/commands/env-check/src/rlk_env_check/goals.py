"""Goal environments: checks that rewards and ends depend only on what hindsight passes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
    compute, infos = env.get_wrapper_attr("compute_reward"), list[dict[str, Any]]()
    keys, required = set[str](), set[str]()
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
        needed = _infos_needed(compute, pair, info, float(found))
        if needed is None:
            yield _needs_other_infos("compute_reward")
            return
        keys |= needed.keys()
        required |= {key for key in needed if _fails_without(key, compute, pair, info)}
        infos.append(dict(info))
        if number == 0:
            yield from _batch(compute, pair, needed, float(found))
            yield from _compute_terminated(env, pair, info)
        if terminated or truncated:
            break
    unkept = {key for key in keys if not _is_kept(key, infos, key in required)}
    for key in sorted(unkept):
        yield error(
            f"compute_reward() reads the info {key!r}, which is not a number in every step: return "
            "one in all of them, because hindsight may compute any step's reward."
        )
    if keys - unkept:
        yield _needs_info_keys("compute_reward", keys - unkept)
    if "is_success" not in info:
        yield note("infos have no is_success: no success rate is reported.")


def _compute_terminated(env: gym.Env[Any, Any], pair: Any, info: Any) -> Iterator[Finding]:
    """Findings about `compute_terminated`, which an environment need not have."""
    name = "compute_terminated"
    if not env.has_wrapper_attr(name):
        return
    compute = env.get_wrapper_attr(name)
    try:
        found = compute(*pair, info)
    except NotImplementedError:
        return  # only declared, as by the base class of Gymnasium-Robotics
    except Exception as problem:
        wrong = f"raised {type(problem).__name__}: {problem}"
    else:
        wrong = "" if _is_number(found) else f"gives {found!r:.60}, which is no bool"
    if wrong:
        yield error(
            f"{name}() {wrong}. It is optional: remove it, or let it return whether the episode "
            "ends there."
        )
        return
    needed = _infos_needed(compute, pair, info, float(found))
    if needed is None:
        yield _needs_other_infos(name)
    elif needed:
        yield _needs_info_keys(name, needed)


def _infos_needed(compute: Any, pair: Any, info: Any, expected: float) -> dict[str, Any] | None:
    """The numbers in an info without which a method does not give what it gives with all infos.

    None if it does not give that with all numbers either.
    """

    def same_with(infos: dict[str, Any]) -> bool:
        try:
            return bool(np.isclose(float(compute(*pair, infos)), expected))
        except Exception:
            return False

    if same_with({}):
        return {}
    numbers = {key: value for key, value in info.items() if _is_number(value)}
    if not same_with(numbers):
        return None
    without = {key: {k: v for k, v in numbers.items() if k != key} for key in numbers}
    needed = {key: numbers[key] for key in numbers if not same_with(without[key])}
    return needed if same_with(needed) else numbers


def _fails_without(key: str, compute: Any, pair: Any, info: dict[str, Any]) -> bool:
    """Whether a method raises an exception without this info, as it does if it reads `info[KEY]`.

    One that reads it by `get` or `in` computes something else instead.
    """
    try:
        compute(*pair, {name: value for name, value in info.items() if name != key})
    except Exception:
        return True
    return False


def _is_kept(key: str, infos: list[dict[str, Any]], is_required: bool) -> bool:
    """Whether hindsight can keep an info: a number in every step, or wherever it is there."""
    return all(_is_number(info[key]) if key in info else not is_required for info in infos)


def _needs_info_keys(name: str, keys: Iterable[str]) -> Finding:
    return warning(
        f"{name}() reads infos, which hindsight passes only if they are named: set "
        f"info_keys={sorted(keys)} of hindsight-replay, or of HER."
    )


def _needs_other_infos(name: str) -> Finding:
    return error(
        f"{name}() gives something else, or raises an exception, without the infos that are not "
        "numbers, and hindsight keeps only numbers. Let it depend on the goals and on infos that "
        "are numbers."
    )


def _batch(compute: Any, pair: Any, needed: dict[str, Any], found: float) -> Iterator[Finding]:
    """Whether several pairs of goals at once have the reward of each, as hindsight gives them."""
    rows = [np.stack([goal] * _ROWS) for goal in pair]
    infos = {key: np.array([value] * _ROWS) for key, value in needed.items()}
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
