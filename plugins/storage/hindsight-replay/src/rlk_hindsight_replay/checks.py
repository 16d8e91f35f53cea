"""Checks, while a run is planned, what hindsight needs: goals, and a reward for each."""

from __future__ import annotations

from contextlib import closing, nullcontext
from typing import TYPE_CHECKING, Any

from rlk.errors import PlanError

if TYPE_CHECKING:
    from rlk.planning.plan import Plan
    from rlk_hindsight_replay.config import HindsightReplayConfig

ACHIEVED, DESIRED = "achieved_goal", "desired_goal"
_OWN = "storage 'hindsight-replay' (rlk-hindsight-replay)"


def check(config: HindsightReplayConfig, plan: Plan) -> None:
    """Check that the environment is suitable for hindsight.

    It is made for this, checked, and closed again; one that was passed is checked directly.

    Raises:
        PlanError: if observations have no goals, the environment has no `compute_reward`, or new
            goals are to be drawn every time although another storage keeps a priority for each.
    """
    # Not at the top: components are listed without them.
    from rlk.planning.environment import MakeEnv, vector_of
    from rlk_hindsight_replay.rewards import reward_of

    if not hasattr(plan.observation_space, "spaces"):
        return  # refused already, because of this component's observation spaces
    check_goals(plan.observation_space)
    env: Any = plan.env
    if env.is_finished:
        made = env.passed
    elif plan.vec_env.component.makes_only_vectors:
        made = vector_of([MakeEnv(env)], plan.vec_env)
    else:
        made = MakeEnv(env, plan.wrappers)()
    with nullcontext() if env.is_finished else closing(made):
        reward_of(made, plan.observation_space, config.info_keys)
    choosing = [one.title for one in plan.storages if "choose" in one.component.stages]
    if config.online_sampling and choosing:
        raise PlanError(
            f"{_OWN} draws new goals for every sample (online_sampling=true), but "
            f"{choosing[0]} keeps a priority for each goal. Leave online_sampling out."
        )


def check_goals(space: Any) -> None:
    """Check that a space of observations has goals.

    Raises:
        PlanError: if a goal is missing, their shapes differ, or the desired one cannot be replaced
            by an achieved one.
    """
    import numpy as np  # not at the top: components are listed without it

    found = getattr(space, "spaces", {})
    missing = [key for key in (ACHIEVED, DESIRED) if key not in found]
    what = f"has no {' and no '.join(missing)}" if missing else ""
    if not missing and found[ACHIEVED].shape != found[DESIRED].shape:
        what = "has goals of two shapes"
    elif not missing:
        achieved, desired = (np.dtype(found[key].dtype) for key in (ACHIEVED, DESIRED))
        are_integers = achieved.kind in "iu" and desired.kind in "iu"
        if not are_integers and not np.can_cast(achieved, desired, "same_kind"):
            what = f"would have achieved goals of {achieved} cast to desired ones of {desired}"
    if what:
        advice = "Use a goal environment" if missing else "Give both goals the same space"
        raise PlanError(
            f"{_OWN} needs a Dict observation with achieved_goal and desired_goal of one shape and "
            f"dtype, but the environment's {space} {what}. {advice}, or --plugin "
            "no:hindsight-replay."
        )
