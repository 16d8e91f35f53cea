"""What a logger says whose files have nowhere to go."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlk.planning.plan import Plan


def lacks_folder(plan: Plan, logger: str) -> str | None:
    """Why a logger of files cannot be in this plan, and how to give the run a folder; or None."""
    if plan.out is not None:
        return None
    return (
        f"logger {logger!r} writes into the run's folder, and this run has none. "
        "Say --out DIR (out=… in Python)."
    )
