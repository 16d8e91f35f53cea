"""The refusal of a logger that writes files, in a run without a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlk.planning.plan import Plan


def lacks_folder(plan: Plan, logger: str) -> str | None:
    """Why a logger that writes files cannot be in this plan and what to type instead, or None."""
    if plan.out is not None:
        return None
    return (
        f"logger {logger!r} writes into the run's folder, and this run has none. "
        "Add --out DIR (out=… in Python)."
    )
