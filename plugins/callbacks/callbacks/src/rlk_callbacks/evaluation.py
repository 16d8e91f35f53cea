"""`evaluation`: the policy's mean return during training (Stable Baselines' `EvalCallback`).

Evaluations take place at the end of the first iteration after each multiple of `every` timesteps.
Each plays other episodes, whose seeds are a function of the run's seed and its timesteps in all
calls of `learn`, unless `same_episodes` leaves the timesteps out: training is not affected, and a
resumed run evaluates as the uninterrupted one would have.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from rlk.errors import BadFile, PlanError
from rlk.hookspecs import hookimpl
from rlk.planning.other_environment import in_other_environment
from rlk.running.clock import Clock
from rlk.running.seeding import Streams
from rlk.saving import saved_files
from rlk.saving.restored_parts import part_of
from rlk_callbacks.config import EvaluationConfig
from rlk_callbacks.history import (
    HISTORY,
    packed,
    read_history,
    unpacked,
    until,
    write_history,
)
from rlk_callbacks.interval import next_due
from rlk_callbacks.listened_to import ListenedTo
from rlk_callbacks.render import HUMAN, window_problem
from rlk_evaluation.evaluate import STREAM, Evaluation, evaluate_run, no_second_environment
from rlk_evaluation.number_text import significant

if TYPE_CHECKING:
    from rlk.planning.plan import Plan
    from rlk.protocols import State
    from rlk.running.run import Run


class EvaluationCallback:
    """Evaluates, keeps the best model and the history, and stops at a mean return.

    If two means are equal, the later model is kept as the best, because it has been trained for
    longer. Only a run with a folder has `best_model.zip` and `evaluations.npz`, whose format is
    that of Stable Baselines 2.10: `timesteps` [K], `results` and `ep_lengths` [K, episodes].
    Several calls of `learn` append to it, also those of a run that was loaded to continue in its
    folder; if one counts timesteps from 0 again, `timesteps` starts again from small values. An
    object that is passed to `learn` of another agent begins anew.

    Without an environment of its own it follows `set_env`. What was the best model in the old
    environment does not count in the new one.

    Where several of these listen to one run, the first has these files, and the second has
    `best_model-2.zip`, `evaluations-2.npz` and the numbers `eval-2/…`. Plugins come before
    callbacks of a call of `learn`.
    """

    #: What says so notifies of evaluations (`rlk_evaluation_end`); callbacks that need them ask.
    evaluates = True

    def __init__(self, config: EvaluationConfig | None = None) -> None:
        self._config = config or EvaluationConfig()
        self._listened_to = ListenedTo()
        self._env: Any = None
        self._number = 1  #: among those that listen to the run
        self._due = 0
        self._missed: int | None = None
        self._evaluated_at = -1  #: the timestep of the latest evaluation
        self._best: float | None = None
        self._history: list[Evaluation] = []
        self._reason: str | None = None

    @hookimpl
    def rlk_check_plan(self, plan: Plan) -> str | None:
        problem = self._problem(plan)
        return None if problem is None else f"callback 'evaluation': {problem}"

    @hookimpl
    def rlk_training_start(self, run: Run) -> None:
        self._reason, self._evaluated_at = None, -1
        self._due = next_due(run.timesteps, self._config.every)
        listening = _listening(run)
        self._number = listening.index(self) + 1 if self in listening else 1
        if self._is_new(run):
            self._continue_history(run)
        if self._missed is not None:
            self._restore_folder(run)
            if self._missed <= run.timesteps:
                # The checkpoint was taken in this iteration, before the evaluation that was due.
                self._evaluate_for_row(run)
        self._missed = None

    @hookimpl
    def rlk_update_end(self, run: Run) -> None:
        ends = self._config.at_end and run.timesteps >= run.clock.total_timesteps
        if run.timesteps < self._due and not ends:
            return
        self._evaluate_for_row(run)

    @hookimpl
    def rlk_should_stop(self, run: Run) -> str | None:
        """Evaluate the final policy of a training that another callback ends early.

        The loop asks once more when it has ended, so callbacks that come after this one count, too.
        """
        is_final = run.stop_asked is not None and not run.hurries
        if is_final and self._config.at_end and self._evaluated_at != run.timesteps:
            self._evaluate(run)
        return self._reason

    @hookimpl
    def rlk_training_end(self, run: Run) -> None:
        """Leave nothing open where this is a callback of one call of `learn`, and no plugin."""
        if all(run.hooks.get(choice.name) is not self for choice in run.plan.choices()):
            self._close_env(run)

    def _problem(self, plan: Plan) -> str | None:
        """Why there is no environment to evaluate in, or None."""
        config = self._config
        try:
            elsewhere = self._where(plan)
        except PlanError as error:
            return str(error)
        if elsewhere is plan and (problem := no_second_environment(plan.env)):
            return f"{problem[:-1]}, or another environment (evaluation.env)."
        if elsewhere.env.size not in (None, config.n_envs):
            return f"its environment is {elsewhere.env.size}. Use n_envs={elsewhere.env.size}."
        return window_problem(elsewhere.env) if config.render else None

    def _where(self, plan: Plan) -> Plan:
        """The plan with the environment to evaluate in; PlanError if it does not fit."""
        env, keywords = self._config.env, self._config.env_kwargs
        if self._follows and keywords is None:
            return plan
        return in_other_environment(plan, plan.env if self._follows else env, keywords)

    @property
    def _follows(self) -> bool:
        """Whether it evaluates in an environment like that of training."""
        return self._config.env is None or self._config.env is True

    def _made(self, run: Run) -> Any:
        """The vector environment for evaluation."""
        from rlk.running.vec_env import make_vec_env

        plan = self._where(run.plan)
        extra: dict[str, Any] = {}
        if self._config.render:
            extra = {"render_mode": HUMAN}
        elif plan.env.kwargs.get("render_mode") == HUMAN:
            extra = {"render_mode": None}  # it is for training only
        env = make_vec_env(plan, run.hooks, self._config.n_envs, training=False, **extra)
        if not plan.env.is_finished:  # the program that passed one closes it
            run.on_close.append(env.close)
        return env

    def _close_env(self, run: Run) -> None:
        """Close the vector environment for evaluation, unless the program passed it."""
        env, self._env = self._env, None
        if env is not None and env.close in run.on_close:
            run.on_close.remove(env.close)
            env.close()

    def _move(self, run: Run) -> None:
        """Leave the environment that the run has left; PlanError if the new one does not do."""
        self._close_env(run)
        self._best = None
        if problem := self.rlk_check_plan(run.plan):
            raise PlanError(problem)

    def _evaluate_for_row(self, run: Run) -> None:
        """Evaluate at a border, whose row all ranks write together; rank 0 alone evaluates."""
        run.metrics.ask_for_row()
        self._evaluate(run)

    def _evaluate(self, run: Run) -> None:
        self._evaluated_at = run.timesteps
        self._due = next_due(run.timesteps, self._config.every)
        if run.communicator.rank != 0:
            return
        config = self._config
        if self._follows and self._listened_to.has_moved(run):
            self._move(run)
        if self._env is None:
            self._env = self._made(run)
        streams = run.streams if config.seed is None else Streams(config.seed)
        all_timesteps = run.clock.cumulative_timesteps
        key = STREAM if config.same_episodes else f"{STREAM} at {all_timesteps}"
        seeds = streams.integers(key, config.n_envs)
        result = evaluate_run(
            run,
            self._env,
            config.episodes,
            least_steps=config.steps,
            seeds=seeds,
            deterministic=config.deterministic,
        )
        self._take_in(run, attrs.evolve(result, number=self._number))

    def _take_in(self, run: Run, result: Evaluation) -> None:
        mean, group = result.mean_return, self._own("eval")
        self._history.append(result)
        run.metrics.set(f"{group}/mean_reward", mean)
        run.metrics.set(f"{group}/mean_ep_length", result.mean_length)
        if result.success_rate is not None:
            run.metrics.set(f"{group}/success_rate", result.success_rate)
        self._write_history(run)
        if self._best is None or mean >= self._best:
            # If it cannot be written, a later model that is worse may be the best on disk.
            name = self._own("best_model")
            with run.failed_writes.tolerated(name):
                if run.out is not None:
                    saved_files.save(run, run.out / name)
                    run.failed_writes.succeeded(name)
                self._best = mean
        if self._config.stop_at is not None and mean >= self._config.stop_at:
            asked = f"evaluation.stop_at={self._config.stop_at:g}"
            self._reason = f"a mean return of {significant(mean)} ({asked})"
        run.notify("rlk_evaluation_end", result=result)

    def _write_history(self, run: Run) -> None:
        name = self._own(HISTORY)
        with run.failed_writes.tolerated(name):
            if run.out is not None and self._history:
                write_history(run.out / name, self._history)
                run.failed_writes.recovered(name)

    def _restore_folder(self, run: Run) -> None:
        """Restore what a resumed run's checkpoint knows into its folder, and remove what is later.

        Where the best model is not there, as in a fork from before it, or came later than the
        checkpoint, the next one is the best.
        """
        if run.out is None or run.communicator.rank != 0:
            return
        best = self._best_model(run, run.out)
        if not best.is_file() or _is_later(best, run):
            self._best = None
        self._write_history(run)

    def _continue_history(self, run: Run) -> None:
        """Continue the history of a folder, and its best mean, where no state of this was loaded.

        A run that counts on from an earlier timestep drops the evaluations after it.
        """
        if run.out is None or run.communicator.rank != 0:
            return
        written = read_history(run.out / self._own(HISTORY))
        self._history = kept = until(written, run.timesteps) if run.timesteps else written
        best = max((one.mean_return for one in kept), default=-math.inf)
        model = self._best_model(run, run.out)
        if kept and model.is_file() and not (run.timesteps and _is_later(model, run)):
            self._best = best

    def _own(self, name: str) -> str:
        """The name of its file, or of its numbers: those of another evaluation have others."""
        if self._number == 1:
            return name
        stem, dot, suffix = name.partition(".")
        return f"{stem}-{self._number}{dot}{suffix}"

    def _best_model(self, run: Run, out: Path) -> Path:
        return out / f"{self._own('best_model')}{run.plan.serializer.make().suffix}"

    def _is_new(self, run: Run) -> bool:
        """Whether it has not listened to this run before; what it knows of another is forgotten."""
        if not self._listened_to.is_new(run):
            return False
        self._env, self._best, self._missed = None, None, None
        self._history = []
        return True

    # ---- state -----------------------------------------------------------------------------------

    @hookimpl
    def rlk_save(self) -> State:
        return {"best": self._best, "due": self._due, "history": packed(self._history)}

    @hookimpl
    def rlk_load(self, run: Run, state: State) -> None:
        self._is_new(run)
        self._missed = int(state["due"])
        self._best = None if state["best"] is None else float(state["best"])
        self._history = unpacked(state["history"])


def _listening(run: Run) -> list[EvaluationCallback]:
    """All that evaluate the run now, in the order in which they do."""
    active = map(run.hooks.get, run.hooks.implementers("rlk_update_end"))
    return [one for one in active if isinstance(one, EvaluationCallback)]


def _is_later(model: Path, run: Run) -> bool:
    """Whether a model was trained for longer than the run was so far, or cannot be read.

    The history does not tell: after a failed write, it lacks the last evaluations, and means may be
    equal. The timesteps of all calls of `learn` count, because each may begin at 0.
    """
    clock = Clock(total_timesteps=0)
    try:
        clock.load_state_dict(part_of(saved_files.read(model, run.plan.kernel), "clock"))
    except BadFile:
        return True
    return clock.cumulative_timesteps > run.clock.cumulative_timesteps
