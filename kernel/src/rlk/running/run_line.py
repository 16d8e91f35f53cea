"""A run in one line, as the `repr` of a run and of its agent show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlk.planning.plan import Plan


def run_line(plan: Plan, timesteps: int, *, closed: bool) -> str:
    """What is trained, how far it is, the folder as it was typed, and whether it is closed."""
    folder = f", in {plan.out}" if plan.out else ""
    return f"{plan.title}, {timesteps:,} timesteps{folder}{', closed' if closed else ''}"
