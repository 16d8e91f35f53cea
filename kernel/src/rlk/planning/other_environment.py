"""A plan in another environment, to evaluate or to continue in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

from rlk.errors import PlanError
from rlk.planning.environment import choose_environment
from rlk.planning.probe import in_vector_wrappers, probe

if TYPE_CHECKING:
    from rlk.planning.plan import Plan

#: A Box, as a space is described in a file: with its bounds inside a Dict, otherwise without.
_BOX = re.compile(r"Box\((?:.*?, )?(\([\d, ]*\)), \w+\)")

_USE_THE_SAME = "Use an environment that has the same spaces (--env, or env= in a program)."
_WRAP = "Use an environment that has the same bounds, or wrap it so that it has them: in"
_BEGIN = "To train on in this one, begin a new run with the policy: --plugin model-start:path=MODEL"
_OF_OTHER_BOUNDS = {
    "observation_space": f"{_WRAP} gymnasium.wrappers.RescaleObservation if its numbers are of "
    f"another scale, in TransformObservation if they mean the same. {_BEGIN}",
    "action_space": f"{_WRAP} gymnasium.wrappers.RescaleAction. {_BEGIN}",
}


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
    inside = probe(env, plan.wrappers, plan.vec_env, registries)
    spaces = in_vector_wrappers(env.name, inside, plan.wrappers)
    check_same_spaces(env.name, spaces, (plan.observation_space, plan.action_space))
    return attrs.evolve(plan, env=env)


def check_same_spaces(name: str, spaces: tuple[Any, Any], expected: tuple[Any, Any]) -> None:
    """PlanError if an environment of that name has other spaces than expected.

    Args:
        name: for the message.
        spaces, expected: of observations and of actions.
    """
    for key, found, own in zip(("observation", "action"), spaces, expected, strict=True):
        if found != own:
            raise PlanError(f"the {key}_space of environment {name!r} is {found}, not {own}.")


def check_spaces_of_saved(saved: Mapping[str, Any], plan: Plan, file: str) -> None:
    """PlanError if the spaces of a plan are not those of the file that it is from.

    The bounds of a Box count as well: those of actions are the units that a policy acts in, and
    those of observations tell what is an image. Infinite bounds of observations are not compared,
    because releases of an environment differ in them. The dtype of a Box may differ, unless it
    tells an image, and so may the order of a Dict's keys.

    Args:
        saved: the environment in the file's plan.
        plan: the plan that the file's state is for.
        file: its name in the message.
    """
    for key in ("observation_space", "action_space"):
        difference = _difference(saved, plan, key)
        if difference is not None:
            there, here, advice = difference
            raise PlanError(
                f"{file} was trained on {saved['name']!r}, whose {key} is {there}, but that of "
                f"{plan.env.name!r} is {here}. {advice}"
            )


def _difference(saved: Mapping[str, Any], plan: Plan, key: str) -> tuple[str, str, str] | None:
    """The space in the file, that of the plan, and what to do; None if they are alike."""
    from rlk.planning.saved_spaces import same_bounds, space_of  # they need gymnasium
    from rlk.spaces import describe

    space = getattr(plan, key)
    if not same_sizes(saved[key], describe(space)):
        return saved[key], describe(space), _USE_THE_SAME
    state = saved["spaces"].get(key)
    before = space if state is None else space_of(state)
    if same_bounds(before, space, infinite=key == "action_space"):
        return None
    return _with_bounds(before), _with_bounds(space), _OF_OTHER_BOUNDS[key]


def _with_bounds(space: Any) -> str:
    """One line of text, unlike `rlk.spaces.describe` with the bounds of a Box."""
    return " ".join(str(space).split())


def same_sizes(one: str, other: str) -> bool:
    """Whether two spaces, as `rlk.spaces.describe` writes them, are of one kind and size."""
    return _sizes(one) == _sizes(other)


def _sizes(described: str) -> list[str]:
    """Kinds and sizes in the description of a space, each part of a Dict by itself."""
    text = _BOX.sub(r"Box\1", described)
    parts = re.split(r", (?=')", text[5:-1]) if text.startswith("Dict(") else [text]
    return sorted(parts)
