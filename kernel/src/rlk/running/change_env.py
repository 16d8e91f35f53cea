"""Moves a run to another environment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from rlk.errors import PlanError
from rlk.planning.other_environment import check_same_spaces
from rlk.running.vec_env import make_vec_env, metrics_of

if TYPE_CHECKING:
    from rlk.planning.plan import Plan
    from rlk.running.run import Run


def change_env(run: Run, plan: Plan) -> None:
    """Continue, from a reset, in the environment of another plan; the old one is closed.

    The old one stays open if the new one wraps it.

    Raises:
        PlanError: if the new one does not fit; then nothing changes.
    """
    _check_fits(run.plan, plan)
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
    if not is_shared:
        old_env.close()


def _check_fits(old: Plan, new: Plan) -> None:
    spaces, expected = ((one.observation_space, one.action_space) for one in (new, old))
    check_same_spaces(new.env.name, spaces, expected)
    if new.env.size not in (None, old.n_envs):
        raise PlanError(
            f"the new environment {new.env.name!r} was passed as an object and has "
            f"n_envs={new.env.size}, but this agent steps n_envs={old.n_envs}: its storage is made "
            f"for them. Pass a vector of {old.n_envs}, or what makes one environment (an id, a "
            "class, a function); or make an agent for it: save this one, and "
            f"rlk.load(path, env=…, n_envs={new.env.size})."
        )


def _share_environments(one: Any, other: Any) -> bool:
    """Whether two vectors step the same environment, as far as they show it."""
    return not _innermost(one).isdisjoint(_innermost(other))


def _innermost(vector: Any) -> set[int]:
    inner = vector.unwrapped
    return {id(inner), *(id(env.unwrapped) for env in getattr(inner, "envs", ()))}
