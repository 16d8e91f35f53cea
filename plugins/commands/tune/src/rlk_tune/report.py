"""The output of `rlk tune`: what it searches, a line for every trial, the best ones at the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import optuna
from optuna.trial import FrozenTrial, TrialState

from rlk.command_line import command_line, path_word
from rlk.planning.plan import Plan
from rlk.planning.spec import RunSpec
from rlk_cli.columns import columns, terminal_width
from rlk_tune.continue_search import code_options
from rlk_tune.results import BEST, TRIALS, state_of
from rlk_tune.search import Search
from rlk_tune.study import REASON, completed, counted, mean_return

#: This many of the best trials are shown at the end.
SHOWN = 3
#: The column at which the settings of a trial begin.
SETTINGS_AT = 36


def beginning(plan: Plan, search: Search, folder: Path) -> str:
    """The settings that all trials have in common."""
    trials = f"{_counted(search.trials, 'trial')} of {search.timesteps:,} timesteps"
    how = f"{_counted(search.evaluations, 'evaluation')} of {_counted(search.episodes, 'episode')}"
    return "\n".join(
        [
            f"{plan.title}: {trials}, seed {search.seed}",
            *(f"  {note}" for note in plan.notes),
            f"  {how}, sampler {search.sampler}, pruner {search.pruner}",
            f"  into {folder}/",
        ]
    )


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def searched(search: Search, notes: Sequence[str]) -> str:
    """How trials differ, and the parts of a search space that are left out."""
    at, width = 4 + max(map(len, search.searched)), terminal_width()
    ranges = (columns(f"  {name}", at, text, width) for name, text in search.searched.items())
    return "\n".join(["searched:", *ranges, *(f"  {note}" for note in notes)])


def line(trial: FrozenTrial, search: Search, study: optuna.Study) -> str:
    """One line for a trial that has ended: its value, and the settings that were tried."""
    settings = " ".join(f"{name}={shown(value)}" for name, value in trial.params.items())
    reason = trial.user_attrs.get(REASON, "")
    right = f"{settings}  ({reason.splitlines()[0]})" if reason else settings
    left = f"trial {trial.number:>4}  {_outcome(trial, search, study)}"
    return columns(left, SETTINGS_AT, right, terminal_width())


def _outcome(trial: FrozenTrial, search: Search, study: optuna.Study) -> str:
    if trial.state == TrialState.FAIL:
        return f"{state_of(trial):>10}"
    if trial.state == TrialState.PRUNED:
        return f"{mean_return(trial):>10}  pruned {trial.last_step}/{search.evaluations}"
    is_best = completed(study)[0].number == trial.number
    return f"{mean_return(trial):>10}{'  best' if is_best else ''}"


def ending(search: Search, study: optuna.Study, folder: Path) -> Iterator[str]:
    """The results of the trials, the best ones side by side, and what to type next."""
    ended, best = counted(study), completed(study)
    states = [trial.state for trial in ended]
    pruned, failed = states.count(TrialState.PRUNED), states.count(TrialState.FAIL)
    yield (
        f"{len(ended)} of {search.trials} trials: {len(best)} trained to the end, {pruned} pruned, "
        f"{failed} failed"
    )
    yield f"  {folder / TRIALS}"
    if best:
        yield from ("", *best_trials(best[:SHOWN]), "")
    if len(ended) < search.trials:
        words = command_line(["rlk", "tune", "--out", str(folder)])
        yield f"continue with: {' '.join([words, *code_options(search, RunSpec(''))])}"
    if best:
        yield f"next, to train with the settings of trial {best[0].number}:"
        yield f"  {command_line(['rlk', 'run', path_word(folder / BEST)])}"


def best_trials(trials: Sequence[FrozenTrial]) -> Iterator[str]:
    """A column for each trial, a row for each setting; below, trials that had no room beside."""
    names = ["", "mean return", *trials[0].params]
    block, room = [names], terminal_width()
    for trial in trials:
        settings = (shown(trial.params[name]) for name in trials[0].params)
        column = [f"trial {trial.number}", mean_return(trial), *settings]
        if room is not None and len(block) > 1 and _width([*block, column]) > room:
            yield from (*_side_by_side(block), "")
            block = [names]
        block.append(column)
    yield from _side_by_side(block)


def _width(block: Sequence[Sequence[str]]) -> int:
    """The characters of the longest line of these columns."""
    return max(map(len, _side_by_side(block)))


def _side_by_side(block: Sequence[Sequence[str]]) -> Iterator[str]:
    """The lines of these columns."""
    widths = [max(map(len, column)) for column in block]
    for row in zip(*block, strict=True):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()


def shown(value: Any) -> str:
    """A setting with as few digits as distinguish it; the files have all digits."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
