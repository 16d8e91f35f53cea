"""A plan in another environment, to evaluate or to continue in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from rlk.errors import PlanError
from rlk.planning.environment import choose_environment
from rlk.planning.probe import probe

if TYPE_CHECKING:
    from rlk.planning.plan import Plan


def in_other_environment(plan: Plan, asked: Any) -> Plan:
    """The plan with another environment, inside the same wrappers.

    Args:
        plan: of a run.
        asked: an environment, as `--env` and `rlk.make` take it; one of the same name is made with
            the same keywords.

    Raises:
        PlanError: if it does not exist, or has other spaces.
    """
    registries = plan.kernel.registries
    env = choose_environment(asked, registries, {})
    if env.takes_keywords_of(plan.env.name):
        env = choose_environment(asked, registries, plan.env.kwargs)
    check_same_spaces(plan, env.name, *probe(env, plan.wrappers, plan.vec_env, registries))
    return attrs.evolve(plan, env=env)


def check_same_spaces(plan: Plan, name: str, observation_space: Any, action_space: Any) -> None:
    """PlanError if the spaces of an environment are not those of the plan."""
    spaces = {"observation_space": observation_space, "action_space": action_space}
    for key, space in spaces.items():
        if space != getattr(plan, key):
            raise PlanError(
                f"the {key} of environment {name!r} is {space}, not {getattr(plan, key)}."
            )
