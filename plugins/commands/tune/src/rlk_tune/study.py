"""The storage of a search, `study.log`, and Optuna's sampler and pruner for it.

Several processes append to the one file. An interrupted trial does not count, and another one
replaces it: a search that was stopped and continued tries the same settings as one that was not.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import optuna
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.pruners import BasePruner, MedianPruner, NopPruner, SuccessiveHalvingPruner
from optuna.samplers import BaseSampler, RandomSampler, TPESampler
from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock, JournalStorage
from optuna.trial import FrozenTrial, TrialState

from rlk.errors import BadFile, described
from rlk.running.seeding import Streams
from rlk_evaluation.number_text import significant
from rlk_tune.ranges import Choice, Range
from rlk_tune.search import Search
from rlk_tune.signals import INTERRUPTIONS

FILE = "study.log"
NAME = "rlk"
#: The notes of a trial: its job, its seed, how many timesteps it trained, and why it failed. An
#: interrupted one has no reason.
JOB, SEED, TIMESTEPS, REASON = "job", "seed", "timesteps", "reason"
#: The reason of a trial whose process got SIGKILL.
KILLED = "its process was killed, as the system does when memory runs out"
#: The number of trials before the sampler and the pruner use earlier results.
STARTUP_TRIALS = 10
STARTUP_TRIALS_OF_PRUNER = 5


class _Log(JournalFileBackend):
    """The file, in whose writing no signal interrupts.

    Where one interrupts the release of Optuna's lock, another error is raised instead.
    """

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        with INTERRUPTIONS.held():
            super().append_logs(logs)


def open_study(folder: Path, search: Search) -> optuna.Study:
    """The study in a folder, created if it is missing; several processes may open it.

    Raises:
        BadFile: if its file is damaged.
    """
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    path = str(folder / FILE)
    try:
        storage = JournalStorage(_Log(path, lock_obj=JournalFileOpenLock(path)))
        return optuna.create_study(
            storage=storage,
            study_name=NAME,
            direction="maximize",
            load_if_exists=True,
            pruner=_pruner(search),
        )
    except (ValueError, LookupError, TypeError, AttributeError) as error:  # whatever a line has
        raise BadFile(
            f"{path} is damaged: {described(error)}. Restore it, or begin anew in another folder."
        ) from error


def mend(folder: Path) -> None:
    """Remove what a killed process has left: its lock, and an unfinished line.

    Only the process that owns the folder may do this, while no other one has the study open.
    """
    path = folder / FILE
    for lock in folder.glob(f"{FILE}.lock*"):
        lock.unlink()
    if path.exists():
        with path.open("r+b") as file:
            file.truncate(file.read().rfind(b"\n") + 1)


def end_unfinished(study: optuna.Study) -> None:
    """End the trials that no process runs any longer."""
    for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
        study.tell(trial.number, state=TrialState.FAIL)


def begun_by(study: optuna.Study, job: int) -> int:
    """The number of trials that a job has begun, in earlier processes too."""
    trials = study.get_trials(deepcopy=False)
    return sum(trial.user_attrs.get(JOB) == job for trial in trials)


def end_killed(study: optuna.Study, job: int) -> FrozenTrial | None:
    """End the trial of a job whose process was killed: it has failed. None if it ran none."""
    running = study.get_trials(deepcopy=False, states=(TrialState.RUNNING,))
    trial = next((one for one in running if one.user_attrs.get(JOB) == job), None)
    if trial is None:
        return None
    # Only an `optuna.Trial` has a public method for this, and it was in the process that is gone.
    study._storage.set_trial_user_attr(trial._trial_id, REASON, KILLED)
    return study.tell(trial.number, state=TrialState.FAIL)


def counted(study: optuna.Study) -> list[FrozenTrial]:
    """The trials that ended by themselves, or whose process was killed: not interrupted ones."""
    ended = (TrialState.COMPLETE, TrialState.PRUNED)
    found = study.get_trials(deepcopy=False)
    return [trial for trial in found if trial.state in ended or REASON in trial.user_attrs]


def completed(study: optuna.Study) -> list[FrozenTrial]:
    """Those that were neither pruned nor failed, the best first; of equal ones, the earlier."""
    found = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    return sorted(found, key=lambda trial: (-(trial.value or 0.0), trial.number))


def mean_return(trial: FrozenTrial) -> str:
    """The value of a trial that was evaluated, as it is printed."""
    assert trial.value is not None
    return significant(trial.value)


def next_trial(study: optuna.Study, search: Search, job: int) -> tuple[optuna.Trial, int]:
    """A trial with drawn settings, and the seed for its training.

    The sampler is seeded for every trial by the number of trials before, so that a search that was
    interrupted draws the same as one that was not. Jobs draw differently from each other.

    Raises:
        BadFile: if the ranges are not those of the trials before.
    """
    words = f"trial {len(counted(study))} of job {job}"
    sampler_seed, seed = Streams(search.seed).integers(words, 2)
    study.sampler = _sampler(search, sampler_seed)
    ranges = {name: distribution(range_) for name, range_ in search.ranges.items()}
    try:
        trial = study.ask(ranges)
    except ValueError as error:
        raise BadFile(
            f"search.json has other ranges than the trials in {FILE} had: {error}. Restore "
            "search.json, or begin another search in another folder."
        ) from error
    trial.set_user_attr(SEED, seed)
    trial.set_user_attr(JOB, job)
    return trial, seed


def distribution(range_: Range) -> BaseDistribution:
    """A range in Optuna's form."""
    if isinstance(range_, Choice):
        return CategoricalDistribution(range_.texts)
    if range_.is_whole:
        return IntDistribution(int(range_.low), int(range_.high), log=range_.is_log)
    return FloatDistribution(range_.low, range_.high, log=range_.is_log)


def _sampler(search: Search, seed: int) -> BaseSampler:
    if search.sampler == "random":
        return RandomSampler(seed=seed)
    return TPESampler(n_startup_trials=STARTUP_TRIALS, seed=seed)


def _pruner(search: Search) -> BasePruner:
    """The pruner; `median` spares the first third of a trial's evaluations, as in the zoos."""
    if search.pruner == "median":
        return MedianPruner(STARTUP_TRIALS_OF_PRUNER, n_warmup_steps=search.evaluations // 3)
    return SuccessiveHalvingPruner() if search.pruner == "halving" else NopPruner()
