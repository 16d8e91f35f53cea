"""Moves a run to another environment."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import attrs

from rlk.errors import PlanError
from rlk.planning.environment import EnvChoice, choose_environment
from rlk.planning.other_environment import check_same_spaces
from rlk.planning.resolve import resolve
from rlk.planning.spec import make_spec
from rlk.running.moved_parameters import adopt_parameters
from rlk.running.vec_env import make_vec_env, metrics_of

if TYPE_CHECKING:
    from rlk.planning.plan import Plan
    from rlk.planning.spec import RunSpec
    from rlk.running.run import Run


def spec_with(env: Any, spec: RunSpec, plan: Plan) -> RunSpec:
    """The spec of a plan with another environment.

    Keywords (`env.gravity`) are kept for an environment of the same name.
    """
    keeps = choose_environment(env, plan.kernel.registries, {}).takes_keywords_of(plan.env.name)
    before = spec if keeps else spec.without_environment()
    return make_spec("", {"env": env}).over(before)


def change_env(run: Run, spec: RunSpec) -> Callable[[], None]:
    """Continue, from a reset, in the environment of another spec.

    Returns:
        What closes the old one, unless the new one wraps it: to be called last, as it may raise.

    Raises:
        PlanError: if the new one does not fit; then nothing changes.
    """
    adopt_parameters(run)
    kernel = run.plan.kernel
    _check_size(run.plan, choose_environment(spec.given["env"], kernel.registries, {}))
    same_number = attrs.evolve(spec, given={**spec.given, "n_envs": run.n_envs})
    plan = resolve(kernel, same_number)
    spaces, expected = ((one.observation_space, one.action_space) for one in (plan, run.plan))
    check_same_spaces(plan.env.name, spaces, expected)
    old_env, old_plan = run.env, run.plan
    made = make_vec_env(plan, run.hooks, run.n_envs, training=True)
    is_shared = _share_environments(made, old_env)
    run.env, run.plan = made, attrs.evolve(old_plan, env=plan.env)
    try:
        for ask_again in run.on_change_env:
            ask_again()
    except BaseException:
        run.env, run.plan = old_env, old_plan
        if not is_shared:
            made.close()
        raise
    run.env_metrics = metrics_of(made)
    run.collector.forget()
    return _close_nothing if is_shared else old_env.close


def _close_nothing() -> None:
    """What closes an old environment that the new one wraps."""


def _check_size(old: Plan, env: EnvChoice) -> None:
    if env.size not in (None, old.n_envs):
        raise PlanError(
            f"the new environment {env.name!r} was passed as an object and has n_envs={env.size}, "
            f"but this agent steps n_envs={old.n_envs}: its storage is made for them. Pass a "
            f"vector of {old.n_envs}, or what makes one environment (an id, a class, a function); "
            "or make an agent for it: save this one, and "
            f"rlk.load(path, env=…, n_envs={env.size})."
        )


def _share_environments(one: Any, other: Any) -> bool:
    """Whether two vectors step the same environment, as far as they show it."""
    return not _innermost(one).isdisjoint(_innermost(other))


def _innermost(vector: Any) -> set[int]:
    inner = vector.unwrapped
    return {id(inner), *(id(env.unwrapped) for env in getattr(inner, "envs", ()))}
