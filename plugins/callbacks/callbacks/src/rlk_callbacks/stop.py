"""Callbacks that stop training, at the end of an iteration.

They are plugins by name, or objects for `agent.learn(callback=StopOnReward(reward_threshold=9))`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlk.hookspecs import hookimpl
from rlk_callbacks.listened_to import ListenedTo
from rlk_callbacks.stop_config import (
    MaxEpisodesConfig,
    StopOnNoImprovementConfig,
    StopOnRewardConfig,
)
from rlk_evaluation.number_text import significant

if TYPE_CHECKING:
    from rlk.planning.choice import Choice
    from rlk.planning.plan import Plan
    from rlk.protocols import State
    from rlk.running.run import Run


class StopOnReward:
    """Stops when an evaluation reaches this mean return (`StopTrainingOnRewardThreshold`).

    Args:
        config: its settings, or None.
        settings: instead of the config: its settings by their names.
    """

    def __init__(self, config: StopOnRewardConfig | None = None, **settings: Any) -> None:
        self._config = config or StopOnRewardConfig(**settings)
        self._reason: str | None = None

    @hookimpl
    def rlk_check_plan(self, plan: Plan) -> str | None:
        return without_evaluations(plan, "stop-on-reward")

    @hookimpl
    def rlk_training_start(self) -> None:
        self._reason = None

    @hookimpl
    def rlk_evaluation_end(self, result: Any) -> None:
        threshold = self._config.reward_threshold
        if not is_numbered(result, self._config.evaluation):
            return
        if result.mean_return >= threshold:
            self._reason = (
                f"a mean return of {significant(result.mean_return)} "
                f"(stop-on-reward.reward_threshold={threshold:g})"
            )

    @hookimpl
    def rlk_should_stop(self) -> str | None:
        return self._reason


class StopOnNoImprovement:
    """Stops when more than the allowed number of evaluations in a row were without a new best.

    It is `StopTrainingOnNoModelImprovement` of Stable-Baselines3.

    Args:
        config: its settings, or None.
        settings: instead of the config: its settings by their names.
    """

    def __init__(self, config: StopOnNoImprovementConfig | None = None, **settings: Any) -> None:
        self._config = config or StopOnNoImprovementConfig(**settings)
        self._listened_to = ListenedTo()
        self._best: float | None = None
        self._evaluations = 0
        self._without = 0

    @hookimpl
    def rlk_check_plan(self, plan: Plan) -> str | None:
        return without_evaluations(plan, "stop-on-no-improvement")

    @hookimpl
    def rlk_training_start(self, run: Run) -> None:
        # A further call of `learn` continues to count.
        if self._listened_to.is_new(run) or run.timesteps == 0:
            self._count_anew()

    @hookimpl
    def rlk_evaluation_end(self, run: Run, result: Any) -> None:
        if not is_numbered(result, self._config.evaluation):
            return
        if self._listened_to.has_moved(run):
            self._count_anew()
        self._evaluations += 1
        if self._best is None or result.mean_return > self._best:
            self._best, self._without = float(result.mean_return), 0
        elif self._evaluations > self._config.min_evals:
            self._without += 1

    def _count_anew(self) -> None:
        self._best, self._evaluations, self._without = None, 0, 0

    @hookimpl
    def rlk_should_stop(self) -> str | None:
        if self._without <= self._config.max_no_improvement_evals:
            return None
        assert self._best is not None
        return f"{self._without} evaluations without a better return than {significant(self._best)}"

    @hookimpl
    def rlk_save(self) -> State:
        return {"best": self._best, "evaluations": self._evaluations, "without": self._without}

    @hookimpl
    def rlk_load(self, run: Run, state: State) -> None:
        self._listened_to.is_new(run)
        self._best = None if state["best"] is None else float(state["best"])
        self._evaluations, self._without = int(state["evaluations"]), int(state["without"])


class MaxEpisodes:
    """Stops after so many episodes.

    They are counted anew for another agent, and if a `learn` counts timesteps from 0 again.

    Args:
        config: its settings, or None.
        settings: instead of the config: its settings by their names.
    """

    def __init__(self, config: MaxEpisodesConfig | None = None, **settings: Any) -> None:
        self._config = config or MaxEpisodesConfig(**settings)
        self._listened_to = ListenedTo()
        self._began: int | None = None

    @hookimpl
    def rlk_training_start(self, run: Run) -> None:
        is_new = self._listened_to.is_new(run)
        if is_new or self._began is None or run.timesteps == 0:
            self._began = run.clock.episodes

    @hookimpl
    def rlk_should_stop(self, run: Run) -> str | None:
        assert self._began is not None
        played, most = run.clock.episodes - self._began, self._config.max_episodes
        return None if played < most else f"episode {played} (max-episodes.max_episodes={most})"

    @hookimpl
    def rlk_save(self) -> State:
        return {"began": self._began}

    @hookimpl
    def rlk_load(self, run: Run, state: State) -> None:
        self._listened_to.is_new(run)
        self._began = None if state["began"] is None else int(state["began"])


def is_numbered(result: Any, number: int) -> bool:
    """Whether a result is of the evaluation with that number; one without a number is the first."""
    return bool(getattr(result, "number", 1) == number)


def without_evaluations(plan: Plan, name: str) -> str | None:
    """Why evaluations that a callback needs will never happen, or None."""
    if any(map(_evaluates, (*plan.callbacks, *plan.extensions))):
        return None
    return (
        f"callback {name!r} (rlk-callbacks) stops after an evaluation, and there is none in this "
        "run. Use --plugin evaluation too; in Python, plugins=['evaluation', …] or, beside it in "
        "the same list, an EvaluationCallback. A callback of your own that notifies of evaluations "
        "has the attribute evaluates = True."
    )


def _evaluates(choice: Choice) -> bool:
    """Whether a plugin, or a callback of a call of `learn`, says that it evaluates."""
    return bool(getattr(choice.make_hooks(), "evaluates", False))
