"""`plan.json` in the folder of a run: its plan as it began, or as it was when a folder was lost."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import attrs

from rlk.files import replacing, write_text
from rlk.hookspecs import hookimpl
from rlk.restoring.saved_plan import PLAN, as_json, plan_text
from rlk.running.folder_owner import OWNER

if TYPE_CHECKING:
    from rlk.running.run import Run


def keep_plan(run: Run) -> None:
    """Let a run with a folder write its plan there when training begins."""
    if run.out is not None:
        run.hooks.activate(_PlanFile(), "the run's plan", "rlk-kernel")


class _PlanFile:
    @hookimpl(tryfirst=True)
    def rlk_training_start(self, run: Run) -> None:
        """Write the plan of a run that begins; a run that is continued in its folder has one.

        Raises:
            RlkError: if it cannot be written.
        """
        assert run.out is not None
        path = run.out / PLAN
        if run.communicator.rank != 0 or path.exists():
            return
        write_text(path, _text(run))
        # First of all, so that it is called after what else is closed.
        run.on_close.insert(0, lambda: _remove_unbegun(run))

    @hookimpl
    def rlk_write_row(self, run: Run) -> None:
        """Write it again if the folder was deleted or moved, so that the new one is a run's, too.

        Raises:
            OSError: if it cannot be written.
        """
        assert run.out is not None
        path = run.out / PLAN
        if run.communicator.rank == 0 and not path.exists():
            with replacing(path) as file:
                file.write(_text(run).encode())


def _text(run: Run) -> str:
    return plan_text(as_json(attrs.evolve(run.plan, seed=run.streams.seed)))


def _remove_unbegun(run: Run) -> None:
    """Remove the plan if the run left nothing else: its folder can then be used again."""
    assert run.out is not None
    with contextlib.suppress(OSError):
        if {file.name for file in run.out.iterdir()} <= {PLAN, OWNER}:
            (run.out / PLAN).unlink()
