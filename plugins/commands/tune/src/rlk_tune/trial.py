"""One trial: an agent is trained with the drawn settings, and evaluated at intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import optuna
from optuna.trial import FrozenTrial, TrialState

from rlk.agent import Agent
from rlk.errors import NotFinite, PlanError, RlkError, described
from rlk.hookspecs import hookimpl
from rlk.planning.resolve import resolve
from rlk.registry.kernel import default_kernel
from rlk_cli.memory import lacks_memory
from rlk_tune.search import Search
from rlk_tune.study import REASON, TIMESTEPS, next_trial

if TYPE_CHECKING:
    from rlk.running.run import Run
    from rlk_evaluation.evaluate import Evaluation


class Watch:
    """Reports every evaluation of an agent to the pruner, which may stop its training.

    Attributes:
        value: the mean return of the last evaluation.
        is_pruned: whether the pruner has stopped it.
    """

    def __init__(self, trial: optuna.Trial, evaluations: int) -> None:
        self.value: float | None = None
        self.is_pruned = False
        self._trial, self._evaluations, self._reported = trial, evaluations, 0

    @hookimpl
    def rlk_evaluation_end(self, run: Run, result: Evaluation) -> None:
        """Trials are compared at the same fraction of their training, counted in evaluations."""
        if result.number > 1:
            return  # of a callback in another environment
        self.value = result.mean_return
        total = run.clock.total_timesteps
        step = min(run.timesteps * self._evaluations // total, self._evaluations)
        if step > self._reported:
            self._reported = step
            self._trial.report(self.value, step)
            self.is_pruned = run.timesteps < total and self._trial.should_prune()

    @hookimpl
    def rlk_should_stop(self) -> str | None:
        return "the pruner" if self.is_pruned else None


def run_trial(search: Search, study: optuna.Study, job: int) -> FrozenTrial:
    """Draw settings, train an agent with them, and store the result.

    The value of a trial is the mean return of the final policy of its training. The best of several
    evaluations would favour lucky ones.

    Raises:
        Exception: any other error than those that drawn settings cause, which also end a trial as
            failed. These are that training gives non-finite numbers, needs more memory than there
            is, or ends before the first update or before any evaluation (a callback stopped it),
            and that planning refuses the drawn settings together.
    """
    trial, seed = next_trial(study, search, job)
    watch = Watch(trial, search.evaluations)
    try:
        spec = search.evaluated(search.spec(search.settings_of(trial.params), seed))
        with Agent(resolve(default_kernel(), spec), spec) as agent:
            agent.learn(callback=watch)
    except Exception as error:
        reason = str(error) if isinstance(error, RlkError) else described(error)
        failed = _failed(study, trial, reason)
        if isinstance(error, NotFinite | PlanError) or lacks_memory(error):
            return failed
        raise
    except BaseException:
        study.tell(trial, state=TrialState.FAIL)
        raise
    trial.set_user_attr(TIMESTEPS, agent.num_timesteps)
    if watch.is_pruned:
        return study.tell(trial, state=TrialState.PRUNED)
    ended = f"training ended at {agent.num_timesteps:,} timesteps"
    if agent.run.clock.updates == 0:
        return _failed(study, trial, f"nothing was learnt: {ended}, before the first update")
    if watch.value is None:
        return _failed(study, trial, f"{ended}, before any evaluation")
    return study.tell(trial, watch.value)


def _failed(study: optuna.Study, trial: optuna.Trial, reason: str) -> FrozenTrial:
    """Store that a trial has failed, and why."""
    trial.set_user_attr(REASON, reason)
    return study.tell(trial, state=TrialState.FAIL)
