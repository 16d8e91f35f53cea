"""Plays an environment at random and checks everything that it returns."""

from __future__ import annotations

import copy
import inspect
import random
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import numpy as np

from rlk_env_check import actions, values
from rlk_env_check.finding import Finding, error, note, warning
from rlk_vector_environments.result_checks import Wrong, wrong_in_reset, wrong_in_step

Env = gym.Env[Any, Any]
SEED = 7
#: Steps that are repeated with the same seed.
REPEATED = 50
#: Floats that differ by less are the same: Box2D keeps contacts of the episode before, for example.
SLIGHT = 1e-3
#: Names of a time limit: Gymnasium's wrapper's, ALE's in frames, MiniGrid's.
_LIMITS = ("_max_episode_steps", "max_num_frames_per_episode", "max_steps")
_OLD = (
    " It looks like an environment of the old gym, whose reset() gives an observation alone and "
    "whose step() gives four values: let reset() return (observation, info) and step() "
    "(observation, reward, terminated, truncated, info)."
)


class Stop(Exception):
    """A finding after which further checks are pointless."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.text)
        self.finding = finding


def findings(env: Env, steps: int) -> Iterator[Finding]:
    """Findings about resets and about so many random steps, each finding once.

    Raises:
        Stop: if the environment cannot be played any further.
    """
    _check_methods(env)
    _check_signature(env)
    before = _global_generators()
    first = Trace(SEED)
    try:
        first.play(env, steps)
    finally:
        yield from first.found.values()
    if first.ends == 0 and not _limit(env):
        yield warning(
            f"no episode ended in {steps} random steps, and the environment has no time limit. "
            "Until an episode ends, there is no reset and no return to report. Wrap it in "
            "gymnasium.wrappers.TimeLimit."
        )
    if _global_generators() != before:
        yield warning(
            "it draws from the global generator of Python or numpy, which no seed of a run sets. "
            "Draw from self.np_random, which super().reset(seed=seed) sets."
        )
    yield from _reproducible(env, first)
    if actions.has_masks(env):
        yield note(
            "it has action_masks(), and the random steps took allowed actions only. An agent does "
            "that with --plugin action-masking."
        )
    yield note(f"{steps} random steps; episodes that ended: {first.ends}; {first.described()}")


def _check_methods(env: Env) -> None:
    """Stop if the environment has only the empty `reset` or `step` of its base class."""
    for name, form in (("reset", "self, *, seed=None, options=None"), ("step", "self, action")):
        method = getattr(env.unwrapped, name)
        if getattr(method, "__func__", method) is getattr(gym.Env, name):
            raise Stop(error(f"it has no {name}() of its own. Define {name}({form})."))


def _check_signature(env: Env) -> None:
    """Stop if `reset` does not take the arguments of a run."""
    try:
        taken = inspect.signature(env.unwrapped.reset).parameters
    except (TypeError, ValueError):
        return
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in taken.values()):
        return
    missing = [name for name in ("seed", "options") if name not in taken]
    if missing:
        raise Stop(
            error(
                f"reset() does not take {' and '.join(missing)}. Let it be reset(self, *, "
                "seed=None, options=None), and begin with super().reset(seed=seed)."
            )
        )


class Trace:
    """The results of random steps that were begun with one seed.

    Attributes:
        found: findings by their topic, so that each is reported once.
        ends: how many episodes ended.
        rewards: those of all steps.
        results: those of the first steps and the resets between them, as (observation, reward,
            whether the episode has ended); the reward of a reset is 0.
    """

    def __init__(self, seed: int) -> None:
        self.found: dict[str, Finding] = {}
        self.ends, self.rewards, self.seed = 0, list[float](), seed
        self.results: list[tuple[Any, float, bool]] = []

    def play(self, env: Env, steps: int) -> None:
        """Take so many steps; Stop if the environment cannot be played any further."""
        env.action_space.seed(self.seed)
        self._reset(env, self.seed)
        for _ in range(steps):
            if self._step(env):
                self.ends += 1
                self._reset(env, None)

    def described(self) -> str:
        """The rewards, in words."""
        least, most = min(self.rewards), max(self.rewards)
        return f"rewards from {least:g} to {most:g}"

    def _reset(self, env: Env, seed: int | None) -> None:
        result = called("reset", env.reset, seed=seed, options=None)
        _stop_if(wrong_in_reset(env.observation_space, result), "reset()", result)
        observation = result[0]
        self._note(values.of_observation(env.observation_space, observation, "reset()"))
        self._keep(observation, 0.0, False)

    def _step(self, env: Env) -> bool:
        action = called(actions.METHOD, actions.sampled, env)
        given = np.copy(action)
        result = called("step", env.step, action)
        _stop_if(wrong_in_step(env.observation_space, result), "step()", result)
        observation, reward, terminated, truncated, _ = result
        self._note(values.of_observation(env.observation_space, observation, "step()"))
        self._note(values.of_reward(reward, "step()"))
        if not np.array_equal(given, action):
            text = "step() changes the action that it is given. Let it use a copy."
            self._note([warning(text, "changed action")])
        self.rewards.append(float(reward))
        is_over = bool(terminated or truncated)
        self._keep(observation, float(reward), is_over)
        return is_over

    def _keep(self, observation: Any, reward: float, is_over: bool) -> None:
        if len(self.rewards) <= REPEATED:  # a copy, because the next step may write into it
            self.results.append((copy.deepcopy(observation), reward, is_over))

    def _note(self, findings: Any) -> None:
        for finding in findings:
            self.found.setdefault(finding.topic, finding)


def _reproducible(env: Env, first: Trace) -> Iterator[Finding]:
    """Whether the same seed gives the same results, as a run requires."""
    again = Trace(first.seed)
    again.play(env, min(len(first.rewards), REPEATED))
    number, what = _first_difference(first, again, SLIGHT)
    if number == 0:
        yield warning(
            f"reset(seed={SEED}) gives different observations every time, so no run can be "
            "reproduced. Let reset() begin with super().reset(seed=seed), and draw from "
            "self.np_random."
        )
    elif what:
        yield warning(
            f"the same seed and the same actions {what}, so no run can be reproduced. Draw all "
            "random numbers from self.np_random."
        )
    elif _first_difference(first, again, 0.0)[1]:
        yield note(
            f"after another reset(seed={SEED}), the same actions give slightly different numbers: "
            "something of earlier episodes is left, as in some physics engines."
        )


def _first_difference(first: Trace, again: Trace, tolerance: float) -> tuple[int | None, str]:
    """The first result that differs, and how it does; None and "" if none differs."""
    how = ("give different observations", "give different rewards", "end episodes differently")
    for number, (one, other) in enumerate(zip(first.results, again.results, strict=False)):
        for a, b, what in zip(one, other, how, strict=True):
            if not _same(a, b, tolerance):
                return number, what
    return None, ""


def _same(one: Any, other: Any, tolerance: float) -> bool:
    if isinstance(one, dict):
        return all(_same(one[key], other[key], tolerance) for key in one)
    if isinstance(one, (tuple, list)):
        return all(_same(a, b, tolerance) for a, b in zip(one, other, strict=True))
    if np.asarray(one).dtype.kind == "f":
        return np.allclose(one, other, rtol=tolerance, atol=tolerance, equal_nan=True)
    return np.array_equal(one, other)


def _global_generators() -> Any:
    """The states of Python's and numpy's global generators."""
    numpy_state: Any = np.random.get_state(legacy=False)
    words = numpy_state["state"]
    return random.getstate(), words["key"].tobytes(), words["pos"], numpy_state["has_gauss"]


def _limit(env: Env) -> bool:
    """Whether something truncates episodes: a wrapper, or the environment, by its own account."""
    told: dict[str, Any] = {}
    if env.spec is not None:
        told = {**env.spec.kwargs, "_max_episode_steps": env.spec.max_episode_steps}
    config = env.get_wrapper_attr("config") if env.has_wrapper_attr("config") else None
    if isinstance(config, dict) and config.get("duration") is not None:  # highway-env's, in seconds
        return True
    return any(told.get(name) is not None or env.has_wrapper_attr(name) for name in _LIMITS)


def called(name: str, function: Any, *arguments: Any, **keywords: Any) -> Any:
    """What a method of the environment returns; Stop if it raises an exception."""
    try:
        return function(*arguments, **keywords)
    except Exception as problem:
        kind = type(problem).__name__
        raise Stop(error(f"{name}() raised {kind}: {problem}.")) from problem


def _stop_if(wrong: Wrong | None, when: str, result: Any) -> None:
    """Stop if the result of the call `when` does not have the required form."""
    if wrong is not None:
        is_old = not isinstance(result, tuple) or len(result) == 4
        text = f"{when} gave a wrong {wrong.field}: {wrong.found}; expected {wrong.expected}."
        raise Stop(error(f"{text}{_OLD if is_old else ''}"))
