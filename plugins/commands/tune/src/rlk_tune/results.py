"""The files of a search for its user: `trials.csv`, and `best.toml` for `rlk run`."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import optuna
from optuna.trial import FrozenTrial, TrialState

from rlk.errors import PlanError
from rlk.files import write_text
from rlk.planning.resolve import resolve
from rlk.registry.kernel import default_kernel
from rlk.restoring.saved_plan import as_json
from rlk_cli.folder import spec_toml
from rlk_tune.search import Search
from rlk_tune.study import REASON, SEED, TIMESTEPS, completed, mean_return

TRIALS, BEST = "trials.csv", "best.toml"


def write(folder: Path, search: Search, study: optuna.Study, last: FrozenTrial | None) -> None:
    """Update both files.

    Args:
        folder: of the search.
        search: its description.
        study: its results.
        last: the trial that has ended; None if the files may be older than that.

    Raises:
        RlkError: if a file cannot be written; it then keeps its old content.
    """
    best = next(iter(completed(study)), None)
    write_text(folder / TRIALS, table(search, study))
    if best is not None and (last is None or last.number == best.number):
        write_text(folder / BEST, best_spec(search, best))


def table(search: Search, study: optuna.Study) -> str:
    """All trials, as CSV; the return of a pruned trial is that of its last evaluation."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    names = list(search.searched)
    columns = ["trial", "state", "mean_return", "timesteps", "seconds", "seed"]
    rows.writerow([*columns, *names, "reason"])
    for trial in study.get_trials(deepcopy=False):
        seconds = "" if trial.duration is None else f"{trial.duration.total_seconds():.1f}"
        note = trial.user_attrs.get
        row = [trial.number, state_of(trial), trial.value, note(TIMESTEPS), seconds, note(SEED)]
        rows.writerow([*row, *(trial.params.get(name) for name in names), note(REASON)])
    return text.getvalue()


def state_of(trial: FrozenTrial) -> str:
    """The state of a trial in one word; one that failed without a reason was interrupted."""
    if trial.state == TrialState.FAIL:
        return "failed" if REASON in trial.user_attrs else "interrupted"
    return trial.state.name.lower()


def best_spec(search: Search, best: FrozenTrial) -> str:
    """The run of the best trial as a SPEC.toml, with all settings of the trial.

    Its evaluations are left out, unless a setting or a plugin of all trials needs them.
    """
    spec = search.spec(search.settings_of(best.params), best.user_attrs[SEED])
    said = f"# Trial {best.number} of a search by rlk tune: mean return {mean_return(best)}.\n"
    try:
        plan = resolve(default_kernel(), spec)
    except PlanError:  # for example --set evaluation.n_envs=4, or --plugin stop-on-reward
        plan = resolve(default_kernel(), search.evaluated(spec))
    return said + spec_toml(as_json(plan))
