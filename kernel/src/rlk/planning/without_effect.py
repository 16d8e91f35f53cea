"""What was asked for and would change nothing in a run: it is refused, not ignored."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from rlk.planning.draft import Draft
from rlk.planning.layers import Rank
from rlk.planning.plan import Plan


def without_effect(plan: Plan, draft: Draft) -> Iterator[str]:
    """Everything in a plan that would have no effect, as messages."""
    yield from _distribution(plan)
    yield from _settings_of_absent_plugins(plan, draft)


def _distribution(plan: Plan) -> Iterator[str]:
    """A distribution, where the algorithm names none by default: it draws its actions from none."""
    algorithm, chosen = plan.algorithm, plan.distribution
    if chosen is not None and "distribution" not in algorithm.component.defaults:
        yield (
            f"{chosen.title} would have no effect: {algorithm.title} draws its actions from no "
            "distribution. Leave it out."
        )


def _settings_of_absent_plugins(plan: Plan, draft: Draft) -> Iterator[str]:
    """A user's settings of the algorithm for a plugin that another setting of it puts in."""
    algorithm = plan.algorithm
    component, in_run = algorithm.component, {choice.name for _, choice in plan.choices()}
    switches = {plugin: key for key, plugin in component.activates.items()}
    for key, targets in component.forwards.items():
        names = [one.partition(".")[0] for one in ([targets] if isinstance(targets, str) else targets)]
        if in_run.intersection(names) or not any(name in switches for name in names):
            continue
        setting = draft.layers.find(key)
        usual = attrs.fields_dict(component.config)[key].default
        if setting.rank == Rank.USER and setting.value != usual:
            name = next(name for name in names if name in switches)
            yield (
                f"{algorithm.title}: {key}={setting.value!r} is for {name!r}, which is not in this "
                f"run, and would have no effect. Say --set {switches[name]}=true, too, or leave "
                "it out."
            )
