"""Moves a run to another environment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlk.errors import PlanError
from rlk.planning.conflicts import conflicts
from rlk.planning.other_environment import in_other_environment
from rlk.running.moved_parameters import adopt_to_train
from rlk.running.vec_env import make_vec_env, metrics_of

if TYPE_CHECKING:
    from rlk.planning.plan import Plan
    from rlk.running.run import Run


def change_env(run: Run, asked: Any) -> None:
    """Continue, from a reset, in another environment, inside the same wrappers.

    The old one is closed, unless the new one wraps it.

    Args:
        run: the run.
        asked: the environment, as for `in_other_environment`.

    Raises:
        PlanError: if the new one does not fit; then nothing changes.
        EnvironmentFailed: if the old one cannot be closed; the run has then moved.
    """
    adopt_to_train(run)
    old_env, old_plan = run.env, run.plan
    plan = in_other_environment(old_plan, asked)
    _check_size(plan)
    if problems := list(conflicts(plan)) or plan.hooks().all("rlk_check_plan", plan=plan):
        raise PlanError("\n".join(problems))
    made = make_vec_env(plan, run.hooks, run.n_envs, training=True)
    is_shared = not _innermost(made).isdisjoint(_innermost(old_env))
    run.env, run.plan = made, plan
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


def _check_size(plan: Plan) -> None:
    """PlanError if the environment was passed and is not as many as the plan's."""
    env = plan.env
    if env.size not in (None, plan.n_envs):
        raise PlanError(
            f"the new environment {env.name!r} was passed as an object and has n_envs={env.size}, "
            f"but this agent steps n_envs={plan.n_envs}: its storage is made for them. Pass a "
            f"vector of {plan.n_envs}, or what makes one environment (an id, a class, a function); "
            "or make an agent for it: save this one, and "
            f"rlk.load(path, env=…, n_envs={env.size})."
        )


def _innermost(vector: Any) -> set[int]:
    """The identities of a vector inside its wrappers, and of its environments if it shows them."""
    inner = vector.unwrapped
    return {id(inner), *(id(env.unwrapped) for env in getattr(inner, "envs", ()))}
