"""A plan for people: what fills each slot, whose it is, who chose it, and how it nests."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlk.planning.plan import Plan


def explain(plan: Plan) -> str:
    """As `rlk run --explain` prints it."""
    from rlk import settings
    from rlk.spaces import describe

    by = plan.sources.get
    lines = [
        f"environment   {plan.env.name} x {plan.n_envs}  ({by('env', 'default')})",
        f"              observation {describe(plan.observation_space)}",
        f"              action      {describe(plan.action_space)}",
    ]
    for slot, choice in plan.choices():
        lines.append(f"{slot:<13} {choice.name:<20} {choice.owner:<32} {choice.by}")
        for key, value in settings.unstructure(choice.config).items():
            who = choice.sources.get(key)
            lines.append(f"    {key} = {value!r}" + (f"   <- {who}" if who else ""))
    if len(plan.storages) > 1:
        nest = [f"{c.name} ({', '.join(c.component.stages) or 'base'})" for c in plan.storages]
        lines.append(f"storages nest {' <- '.join(nest)}")
    wrapped = "".join(f"{choice.name}(" for choice in reversed(plan.wrappers))
    lines.append(f"env nests     {wrapped}{plan.env.name}{')' * len(plan.wrappers)}")
    for key, value in plan.run_settings().items():
        lines.append(f"{key:<16}{value!s:<18} {by(key, 'default')}")
    return "\n".join([*lines, *(f"note: {note}" for note in plan.notes)])
