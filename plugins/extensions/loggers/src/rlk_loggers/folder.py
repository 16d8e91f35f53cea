"""The folder that a logger's files go to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rlk.errors import PlanError

if TYPE_CHECKING:
    from rlk.run import Run


def folder_of(run: Run, logger: str) -> Path:
    """The run's folder.

    Raises:
        PlanError: if it has none, saying how to give it one.
    """
    if run.out is None:
        raise PlanError(
            f"logger {logger!r} writes into the run's folder, and this run has none. "
            "Say --out DIR (out=… in Python)."
        )
    return run.out
