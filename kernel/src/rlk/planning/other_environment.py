"""A plan in another environment, to evaluate or to continue in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

from rlk.errors import PlanError
from rlk.planning.environment import choose_environment
from rlk.planning.probe import in_vector_wrappers, probe

if TYPE_CHECKING:
    from rlk.planning.plan import Plan


def in_other_environment(plan: Plan, asked: Any, keywords: Mapping[str, Any] | None = None) -> Plan:
    """The plan with another environment, inside the same wrappers.

    Args:
        plan: of a run.
        asked: an environment, as `--env` and `rlk.make` take it; one of the same name is made with
            the same keywords.
        keywords: of the environment, instead of those.

    Raises:
        PlanError: if it does not exist, has other spaces, or is made already and gets keywords.
    """
    registries = plan.kernel.registries
    env = choose_environment(asked, registries, {})
    if env.takes_keywords_of(plan.env.name):
        env = choose_environment(asked, registries, plan.env.kwargs)
    if keywords is not None:
        if env.is_finished:
            raise PlanError(
                f"environment {env.name!r} was passed as an object, which is made already: "
                f"{', '.join(keywords) or 'no keywords'} would have no effect. Pass what makes it."
            )
        env = attrs.evolve(env, kwargs=keywords)
    inside = probe(env, plan.wrappers, plan.vec_env, registries)
    spaces = in_vector_wrappers(env.name, inside, plan.wrappers)
    check_same_spaces(env.name, spaces, (plan.observation_space, plan.action_space))
    return attrs.evolve(plan, env=env)


def check_same_spaces(name: str, spaces: tuple[Any, Any], expected: tuple[Any, Any]) -> None:
    """PlanError if an environment of that name has other spaces than expected.

    Both are the space of observations and that of actions.
    """
    for key, found, own in zip(("observation", "action"), spaces, expected, strict=True):
        if found != own:
            raise PlanError(f"the {key}_space of environment {name!r} is {found}, not {own}.")
