"""Changes of schedules if a resumed run ends at another timestep than was planned."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlk.agent import Agent


def end_schedules(agent: Agent) -> str | None:
    """Let every schedule end at the last timestep of a restored agent's plan.

    Returns:
        A line about the numbers that change because of this, from what to what; None if none do.
    """
    run, end = agent.run, agent.plan.total_timesteps
    planned, before = run.clock.total_timesteps, run.scheduled()
    run.clock.total_timesteps = end
    run.refresh_schedules()
    now = run.scheduled()
    moved = [
        f"{tag.partition('/')[2]} {before[tag]:.3g} to {now[tag]:.3g}"
        for tag in now
        if now[tag] != before[tag]
    ]
    if not moved:
        return None
    return f"schedules end at {end:,} timesteps now, not at {planned:,}: {', '.join(moved)}"
