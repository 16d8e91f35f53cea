"""Requests that would change nothing in a run: they are refused, not ignored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from rlk.planning.draft import Draft
from rlk.planning.forwarding import takers
from rlk.planning.how_to_add import how_to_add
from rlk.planning.layers import Rank
from rlk.planning.plan import Plan
from rlk.registry.kinds import SLOTS, singular


def without_effect(plan: Plan, draft: Draft) -> Iterator[str]:
    """Everything in a plan that would have no effect, as messages."""
    yield from _distribution(plan)
    yield from _settings_of_absent_plugins(plan, draft)


def _distribution(plan: Plan) -> Iterator[str]:
    """A distribution for an algorithm without a default one: it does not use a distribution."""
    algorithm, chosen = plan.algorithm, plan.distribution
    if chosen is not None and "distribution" not in algorithm.component.defaults:
        yield (
            f"{chosen.title} would have no effect: {algorithm.title} draws its actions from no "
            "distribution. Leave it out."
        )


def _settings_of_absent_plugins(plan: Plan, draft: Draft) -> Iterator[str]:
    """A user's settings of the algorithm that are forwarded to plugins not in the run."""
    component = plan.algorithm.component
    in_run = [choice for _, choice in plan.choices()]
    config: Any = component.config
    for key in component.forwards:
        targets = [target for own, target in component.forwarded() if own == key]
        if key in component.activates or any(takers(target, in_run) for target in targets):
            continue
        setting, default = draft.layers.find(key), attrs.fields_dict(config)[key].default
        # A file has every setting of the run that it was saved from, not only those asked for.
        if setting.rank == Rank.USER and setting.value != default:
            asked = f"{plan.algorithm.title}: {key}={setting.value!r}"
            yield f"{asked} {_no_taker(targets[0], plan, draft)}, or leave {key} out."


def _no_taker(target: str, plan: Plan, draft: Draft) -> str:
    """Why a forwarded setting would have no effect, and what to type so that it has one."""
    owner, _, setting = target.partition(".")
    if owner not in SLOTS:
        why = f"is for {owner!r}, which is not in this run"
        return f"{why}, and would have no effect. Use {_how_to_add(owner, plan, draft)}"
    kind = singular(SLOTS[owner])
    return (
        f"is for a {kind} with the setting {setting!r}, which none of this run has, and would have "
        f"no effect. Use another {kind}"
    )


def _how_to_add(plugin: str, plan: Plan, draft: Draft) -> str:
    """What to type for a plugin: the algorithm's switch for it, if there is one."""
    for key, activated in plan.algorithm.component.activates.items():
        if activated == plugin:
            return f"--set {key}=true"
    return how_to_add(plugin, draft.layers, draft.registries)
