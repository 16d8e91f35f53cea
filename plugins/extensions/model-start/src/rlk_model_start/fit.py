"""How a saved plan differs from the plan of a new run, and what to type instead."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import starmap
from typing import TYPE_CHECKING, Any

from rlk.command_line import command_line
from rlk.planning.parse import typed_value
from rlk.settings import unstructure

if TYPE_CHECKING:
    from rlk.planning.plan import Plan

#: The kinds that change how a policy sees and acts, besides the policy.
PARTS = ("wrapper", "extension")


def other_spaces(saved: Mapping[str, Any], plan: Plan) -> str | None:
    """The first space of another kind or size, as the end of a sentence; None if there is none.

    Bounds may differ: the new run trains the policy in those of its own environment.
    """
    from rlk.restoring.saved_spaces import has_saved_size  # not at the top: it needs gymnasium
    from rlk.spaces import describe  # likewise

    before = saved["env"]
    for name in ("observation_space", "action_space"):
        space = getattr(plan, name)
        if not has_saved_size(before, name, space):
            return (
                f"was trained on {before['name']!r}, whose {name} is {before[name]}, but that of "
                f"{plan.env.name!r} is {describe(space)}. Use an environment of the same spaces."
            )
    return None


def other_observations(saved: Mapping[str, Any], plan: Plan) -> str:
    """A sentence, if the observations have other bounds or are images of another kind; else empty.

    Layers of a policy that sees images depend on both.
    """
    from rlk.restoring.saved_spaces import same_bounds, space_of  # not at the top: as above

    state = saved["env"]["spaces"].get("observation_space")
    there, here = state and space_of(state), plan.observation_space
    if there is None or same_bounds(there, here, infinite=False):
        return ""
    return (
        f" It was trained on observations of {there}, and those of {plan.env.name!r} are of "
        f"{here}: wrap the environment so that they are the same."
    )


def other_policy(saved: Mapping[str, Any], plan: Plan) -> str | None:
    """The settings of the policy that differ, likewise."""
    there = next(one for one in saved["components"] if one["role"] == "policy")
    if there["name"] != plan.policy.name:
        return (
            f"has the policy {there['name']!r}, not {plan.policy.name!r}. Use "
            f"{command_line(['--policy', there['name']])}."
        )
    here = unstructure(plan.policy.config)
    differ = [key for key, value in there["settings"].items() if here.get(key) != value]
    if not differ:
        return None
    found = ", ".join(f"{key}={there['settings'][key]!r}, not {here.get(key)!r}" for key in differ)
    typed = " ".join(_typed(f"policy.{key}", there["settings"][key]) for key in differ)
    is_other = _algorithm(saved)["name"] != plan.algorithm.name
    return f"has a policy with {found}. Use {typed}.{other_parts(saved, plan) if is_other else ''}"


def other_parts(saved: Mapping[str, Any], plan: Plan) -> str:
    """The algorithm and the plugins that only one of the plans has, as a sentence.

    If there are none, the settings of the algorithm that differ; empty if these are the same.
    """
    algorithm = _algorithm(saved)
    algo = algorithm["name"]
    theirs = {one["name"] for one in saved["components"] if one["role"] in PARTS}
    own = {choice.name for choice in plan.choices() if choice.role in PARTS}
    words = [] if algo == plan.algorithm.name else [command_line(["--algo", algo])]
    words += [command_line(["--plugin", name]) for name in sorted(theirs - own)]
    without = sorted(own - theirs - {"model-start"})
    found = [f"with {' '.join(words)}"] if words else []
    found += [f"without {', '.join(without)}"] if without else []
    if not found:
        here = unstructure(plan.algorithm.config)
        differ = {k: v for k, v in algorithm["settings"].items() if here.get(k) != v}
        found = ["with " + " ".join(starmap(_typed, differ.items()))] if differ else []
    return f" It was trained {' and '.join(found)}." if found else ""


def _algorithm(saved: Mapping[str, Any]) -> Mapping[str, Any]:
    return next(o for o in saved["components"] if o["role"] == "algorithm")


def _typed(key: str, value: Any) -> str:
    """A setting, written so that it can be pasted into a shell."""
    return command_line(["--set", f"{key}={typed_value(value)}"])
