"""Runs a search in its folder, from its present state to its end or to a signal."""

from __future__ import annotations

from pathlib import Path

import click
import optuna

from rlk.errors import RlkError
from rlk.running.folder_owner import OwnedFolder
from rlk_tune import report, results
from rlk_tune.search import Search
from rlk_tune.study import REASON, completed, counted, end_unfinished, mend, open_study
from rlk_tune.work import work

#: The exit code after Ctrl-C; other signals have their own.
INTERRUPTED = 130


def run_search(folder: Path, search: Search, jobs: int, *, quiet: bool) -> int:
    """Run the remaining trials; returns the exit code.

    Raises:
        PlanError: if another process runs trials in this folder.
        RlkError: if an error ends the search, or none of its trials was trained to the end.
    """
    owner = OwnedFolder(folder)
    try:
        search.write(folder)
        mend(folder)
        study = open_study(folder, search)
        end_unfinished(study)
        code = 0
        try:
            work(folder, search, study, jobs, quiet=quiet)
        except KeyboardInterrupt as signalled:
            code = getattr(signalled, "exit_code", INTERRUPTED)
        finally:
            mend(folder)  # of processes that were killed; none runs any longer
            end_unfinished(study)
            results.write(folder, search, study, None)
            if not quiet:
                click.echo("\n".join(report.ending(search, study, folder)))
    finally:
        owner.release()
    if not code and not completed(study):
        raise RlkError(f"no trial finished its training. {_why(study)}")
    return code


def _why(study: optuna.Study) -> str:
    """Why no trial was trained to the end."""
    reasons = [trial.user_attrs.get(REASON) for trial in counted(study)]
    if found := list(filter(None, reasons)):
        return f"The first one failed: {found[0]}"
    return "All were pruned."
