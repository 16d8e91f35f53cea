"""Goal environments: checks that rewards and ends depend only on what hindsight passes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from rlk_env_check import actions
from rlk_env_check.finding import Finding, error, note, warning
from rlk_env_check.play import SEED, called
from rlk_vector_environments.infos import kept_number

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
    yield from _in_an_episode(env, steps)


class _Method:
    """A method that hindsight calls with goals and infos, and what it has read in the steps so far.

    Attributes:
        name: the method's name. compute: the method itself.
        needed: the numbers in the latest info without which it gives something else.
    """

    def __init__(self, env: gym.Env[Any, Any], name: str) -> None:
        self.name, self.compute = name, env.get_wrapper_attr(name)
        self.needed: dict[str, float] = {}
        self._keys, self._required = set[str](), set[str]()

    def note(self, pair: Any, info: dict[str, Any], found: float) -> Finding | None:
        """Note what it reads in a step in which it gave `found`; an error if that is no number."""
        needed = _infos_needed(self.compute, pair, info, found)
        if needed is None:
            return error(
                f"{self.name}() gives something else, or raises an exception, without the infos "
                "that are not numbers, and hindsight keeps only numbers. Let it depend on the "
                "goals and on infos that are numbers."
            )
        self.needed = needed
        self._keys |= needed.keys()
        self._required |= {key for key in needed if _fails_without(key, self.compute, pair, info)}
        return None

    def findings(self, infos: list[dict[str, Any]]) -> Iterator[Finding]:
        """Findings about what it has read, in an episode that gave these infos."""
        unkept = {key for key in self._keys if not _is_kept(key, infos, key in self._required)}
        for key in sorted(unkept):
            yield error(
                f"{self.name}() reads the info {key!r}, which is not a number in every step: "
                "return one in all of them (NaN is none), or leave the key out where the method "
                "does without it, because hindsight may ask about any step."
            )
        if self._keys - unkept:
            yield warning(
                f"{self.name}() reads infos, which hindsight passes only if they are named: set "
                f"info_keys={sorted(self._keys - unkept)} of hindsight-replay, or of HER."
            )


def _in_an_episode(env: gym.Env[Any, Any], steps: int) -> Iterator[Finding]:
    """Findings in the steps of one episode, of which only the last may give a reward."""
    rewards, ends = _Method(env, "compute_reward"), None
    if env.has_wrapper_attr("compute_terminated"):  # which an environment need not have
        ends = _Method(env, "compute_terminated")
    infos = list[dict[str, Any]]()
    called("reset", env.reset, seed=SEED)
    for number in range(steps):
        action = called(actions.METHOD, actions.sampled, env)
        observation, reward, terminated, truncated, info = called("step", env.step, action)
        infos.append(dict(info))
        pair = [observation[key] for key in KEYS]
        wrong = _wrong_reward(rewards, pair, info, reward)
        if wrong is not None:
            yield wrong
            return
        if number == 0:
            yield from _batch(rewards, pair, float(reward))
        wrong = None if ends is None else _wrong_end(ends, pair, info)
        if wrong is not None:
            yield wrong
            ends = None
        if terminated or truncated:
            break
    yield from rewards.findings(infos)
    if ends is not None:
        yield from ends.findings(infos)
    if "is_success" not in info:
        yield note("infos have no is_success: no success rate is reported.")


def _wrong_reward(method: _Method, pair: Any, info: Any, reward: Any) -> Finding | None:
    """What is wrong with the reward of a step under its own goals, or with the infos it needs."""
    try:
        found = method.compute(*pair, info)
    except Exception as problem:
        return error(f"{method.name}() raised {type(problem).__name__}: {problem}.")
    if not _is_number(found) or not np.isclose(float(found), float(reward)):
        return error(
            f"{method.name}() of a step gives {found!r:.60}, but step() gave the reward "
            f"{reward}. They must be the same number."
        )
    return method.note(pair, info, float(found))


def _wrong_end(method: _Method, pair: Any, info: Any) -> Finding | None:
    """What is wrong with the end of an episode under a step's own goals, or with its infos."""
    try:
        found = method.compute(*pair, info)
    except NotImplementedError:
        return None  # only declared, as by the base class of Gymnasium-Robotics
    except Exception as problem:
        wrong = f"raised {type(problem).__name__}: {problem}"
    else:
        if _is_number(found):
            return method.note(pair, info, float(found))
        wrong = f"gives {found!r:.60}, which is no bool"
    return error(
        f"{method.name}() {wrong}. It is optional: remove it, or let it return whether the episode "
        "ends there."
    )


def _infos_needed(compute: Any, pair: Any, info: Any, expected: float) -> dict[str, float] | None:
    """The numbers in an info without which a method does not give what it gives with all infos.

    They are those that a run would keep. None if it does not give that with all of them either.
    """

    def same_with(infos: dict[str, Any]) -> bool:
        try:
            return bool(np.isclose(float(compute(*pair, infos)), expected))
        except Exception:
            return False

    if same_with({}):
        return {}
    kept = {key: _kept(info, key) for key in info}
    numbers = {key: number for key, number in kept.items() if number is not None}
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
    numbers = [_kept(info, key) for info in infos]
    return not any(one is None or (is_required and math.isnan(one)) for one in numbers)


def _kept(info: dict[str, Any], key: str) -> float | None:
    """The number that a run keeps of an info, NaN for a key that is not there; None if it fails."""
    try:
        return kept_number(info, key)
    except Exception:  # an object of the environment's own may raise any
        return None


def _batch(method: _Method, pair: Any, reward: float) -> Iterator[Finding]:
    """Whether several pairs of goals at once have the reward of each, as hindsight gives them."""
    rows = [np.stack([goal] * _ROWS) for goal in pair]
    infos = {key: np.array([value] * _ROWS) for key, value in method.needed.items()}
    try:
        together = np.asarray(method.compute(*rows, infos))
        if together.shape == (_ROWS,) and np.allclose(together, reward):
            return
        what = f"gives {together!r:.60} instead of {_ROWS} rewards"
    except Exception as problem:
        what = f"raised {type(problem).__name__}: {problem}"
    yield warning(
        f"{method.name}() of {_ROWS} goals at once {what}: hindsight then computes one at a "
        "time, which is slower."
    )


def _is_number(value: Any) -> bool:
    scalar = value[()] if isinstance(value, np.ndarray) else value
    return isinstance(scalar, (int, float, np.number, np.bool_))
