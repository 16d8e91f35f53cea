"""What was asked for and would change nothing in a run: it is refused, not ignored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from rlk.planning.draft import Draft
from rlk.planning.layers import Rank
from rlk.planning.plan import Plan
from rlk.planning.put_in import how_to_put_in


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
    """A user's settings of the algorithm that plugins would take which are not in the run."""
    algorithm, component = plan.algorithm, plan.algorithm.component
    in_run = {choice.component.name for _, choice in plan.choices()}
    switches = {plugin: key for key, plugin in component.activates.items()}
    config: Any = component.config
    for key in (key for key in component.forwards if key not in component.activates):
        names = [to.partition(".")[0] for own, to in component.forwarded() if own == key]
        setting, usual = draft.layers.find(key), attrs.fields_dict(config)[key].default
        # A file gives every setting of the run that it was saved from, not only what was wanted.
        is_wanted = setting.rank == Rank.USER and setting.value != usual
        if is_wanted and not in_run.intersection(names):
            switch = switches.get(names[0])
            put_in = how_to_put_in(names[0], draft.layers, draft.registries)
            say = f"--set {switch}=true" if switch else put_in
            yield (
                f"{algorithm.title}: {key}={setting.value!r} is for {names[0]!r}, which is not in "
                f"this run, and would have no effect. Say {say}, or leave {key} out."
            )
