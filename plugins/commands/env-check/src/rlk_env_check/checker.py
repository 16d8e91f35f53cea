"""`check_env`: everything that can be checked in an environment without training."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium as gym

from rlk.errors import RlkError
from rlk_env_check import goals, play, rendering, spaces
from rlk_env_check.finding import Finding, error, note
from rlk_vector_environments.env_state import Unsupported, capture

#: The number of random steps in a check.
STEPS = 300


class UnfitEnvironment(RlkError, AssertionError):
    """An environment with errors; Stable Baselines' checkers raise AssertionError instead."""


def check_env(
    env: gym.Env[Any, Any],
    warn: bool = True,
    skip_render_check: bool = True,
    *,
    steps: int = STEPS,
) -> None:
    """Check an environment; it is reset and stepped, and not closed.

    Args:
        env: the environment.
        warn: whether to issue warnings, by `warnings.warn`, for what is not an error.
        skip_render_check: whether rendering is left out.
        steps: how many random steps to play.

    Raises:
        UnfitEnvironment: with every error that was found.
    """
    found = examine(env, steps=steps, render=not skip_render_check)
    if warn:
        for finding in found:
            if finding.level == "warning":
                warnings.warn(finding.text, stacklevel=2)
    errors = [finding.text for finding in found if finding.level == "error"]
    if errors:
        raise UnfitEnvironment("\n".join(errors))


def examine(
    env: gym.Env[Any, Any],
    *,
    steps: int = STEPS,
    render: bool = False,
    make: Callable[[], Any] | None = None,
) -> list[Finding]:
    """All findings, in the order of the checks.

    Args:
        env: the environment, which stays open.
        steps: how many random steps to play.
        render: whether rendering is checked.
        make: the function that made it, to check that as well.
    """
    found: list[Finding] = []
    try:
        for part in _parts(env, steps, render, make):
            found.append(part)
    except play.Stop as stopped:
        found.append(stopped.finding)
    return found


def _parts(env: Any, steps: int, render: bool, make: Callable[[], Any] | None) -> Iterator[Finding]:
    _check_is_environment(env)
    before = list(spaces.findings(env))
    yield from before
    if any(finding.level == "error" for finding in before):
        return
    yield from play.findings(env, steps)
    yield from goals.findings(env, steps)
    if render:
        yield from rendering.findings(env)
    yield from _state(env)
    if make is not None:
        yield from _travels(make)


def _check_is_environment(env: Any) -> None:
    if isinstance(env, gym.Env):
        return
    if hasattr(env, "num_envs"):
        raise play.Stop(
            error("this is a vector environment: check one environment of it, such as env.envs[0].")
        )
    bases = [base.__module__.partition(".")[0] for base in type(env).__mro__]
    what = "inherits from the old gym" if "gym" in bases else "does not"
    raise play.Stop(
        error(f"an environment must inherit from gymnasium.Env; {type(env).__name__} {what}.")
    )


def _state(env: gym.Env[Any, Any]) -> Iterator[Finding]:
    """Whether a resumed run continues in the middle of an episode."""
    try:
        capture(env)
    except Unsupported as problem:
        yield note(
            f"a resumed run begins new episodes, because its state cannot be saved: {problem}"
        )


def _travels(make: Callable[[], Any]) -> Iterator[Finding]:
    """Whether the function that makes it can be sent to a worker."""
    import cloudpickle

    try:
        cloudpickle.loads(cloudpickle.dumps(make))
    except Exception as problem:
        kind = type(problem).__name__
        yield note(f"it cannot be sent to workers (--vec-env subprocess): {kind}: {problem}")
