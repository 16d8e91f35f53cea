"""The vector environment of a plan, with its wrappers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from gymnasium.vector import AutoresetMode

from rlk.abilities import AdoptsVectors, HasMetrics, WantsKeywords, offers
from rlk.errors import PlanError
from rlk.planning.environment import MakeEnv, vector_form, vector_of
from rlk.running.flat_observations import flattened

if TYPE_CHECKING:
    from rlk.planning.plan import Plan
    from rlk.registry.hooks import Hooks


def make_vec_env(plan: Plan, hooks: Hooks, n_envs: int, *, training: bool, **extra: Any) -> Any:
    """A vector environment with the plan's wrappers.

    A vector that was passed is adopted if the backend can (`AdoptsVectors`).
    Nested observations are flattened for everything after it (`rlk.spaces.flat_space`). If a
    wrapper raises, the vector is closed, unless the program passed it.

    Args:
        plan: the plan of the run.
        hooks: the run's; wrappers of the vector may activate in it what their environments share.
        n_envs: how many environments.
        training: whether wrappers learn (statistics) and record; for evaluation they do neither.
        extra: keywords for the environment (`render_mode`).

    Raises:
        PlanError: if the vector does not restart episodes in the step that ends them, or it is for
            an evaluation and the environment is not there.
    """
    if plan.env.why_spaces_alone and not training:
        raise PlanError(plan.env.why_spaces_alone)
    keep = {"info_keys": plan.info_keys} if training and plan.info_keys else {}
    was_passed = plan.env.is_vector
    env = _adopted(plan, keep) if was_passed else _made(plan, n_envs, keep, extra)
    try:
        _check_is_gymnasiums(env)
        _check_autoreset(env)
        if was_passed or _makes_them_together(plan):  # no single environment could be wrapped
            env = _around_each(env, plan)
        env = flattened(env)
        for choice in plan.wrappers:
            if choice.component.wraps == "vector":
                env = choice.make(env, training=training, out=plan.out, hooks=hooks)
    except BaseException:
        if not was_passed:
            env.close()
        raise
    return env


def _made(plan: Plan, n_envs: int, keep: Mapping[str, Any], extra: Mapping[str, Any]) -> Any:
    """A vector of the plan's environments, each in its wrappers if it can be wrapped singly."""
    wrappers = () if _makes_them_together(plan) else plan.wrappers
    make = MakeEnv(plan.env, wrappers, {**_wanted_keywords(plan), **extra})
    return vector_of([make] * n_envs, plan.vec_env, **keep)


def _adopted(plan: Plan, keep: Mapping[str, Any]) -> Any:
    """The vector that was passed, adapted to the form of the backend's own if the backend can."""
    backend: Any = plan.vec_env.load()
    env = plan.env.passed
    return backend.adopt(env, **keep) if offers(backend, AdoptsVectors) else env


def _makes_them_together(plan: Plan) -> bool:
    """Whether the environments of the backend's vectors cannot be wrapped singly."""
    return plan.vec_env.component.makes_only_vectors


def stack_size(env: Any) -> int:
    """How many frames the observations of a vector's environments stack; 1 if not declared.

    Environments declare it by an attribute of that name, as Gymnasium's `FrameStackObservation`
    does, and so does a wrapper of the vector that stacks frames.
    """
    own = getattr(env, "stack_size", None)
    if own is not None:
        return int(own)
    try:
        if not all(env.call("has_wrapper_attr", "stack_size")):
            return 1
        sizes = set(env.get_attr("stack_size"))
    except (AttributeError, NotImplementedError):  # a vector that has no single environments
        return 1
    (size,) = sizes if len(sizes) == 1 else (1,)
    return int(size)


def _wanted_keywords(plan: Plan) -> dict[str, Any]:
    """The keywords that wrappers need their environments made with."""
    keywords: dict[str, Any] = {}
    for choice in plan.wrappers:
        factory = choice.load()
        if offers(factory, WantsKeywords):
            keywords.update(factory.env_keywords(*choice.configs))
    return keywords


def _around_each(env: Any, plan: Plan) -> Any:
    """A vector inside the vector forms of wrappers, because it cannot be wrapped singly."""
    for choice in plan.wrappers:
        if choice.component.wraps == "env":
            env = vector_form(plan.env, choice).around_vector(env, *choice.configs)
    return env


def _check_is_gymnasiums(env: Any) -> None:
    if not hasattr(env, "single_observation_space"):
        raise PlanError(
            f"{type(env).__name__} is a vector of environments, but none of Gymnasium's "
            "(gymnasium.vector.VectorEnv). Pass what makes one of its environments (an id, a "
            f"class, a function), and n_envs={env.num_envs}."
        )


def _check_autoreset(env: Any) -> None:
    mode = AutoresetMode(env.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP))
    if mode != AutoresetMode.SAME_STEP:
        raise PlanError(
            f"vector environment {type(env).__name__} does not restart episodes in the step that "
            "ends them. Make it with autoreset_mode=AutoresetMode.SAME_STEP."
        )


def metrics_of(env: Any) -> Callable[[], Mapping[str, float]]:
    """A function that returns the numbers to log of the backend inside a vector environment."""
    backend: Any = env.unwrapped
    return backend.metrics if offers(backend, HasMetrics) else dict
