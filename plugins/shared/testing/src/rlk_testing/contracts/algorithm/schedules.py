"""The part of an algorithm's contract that is about scheduled hyperparameters.

They are functions of the run's clock alone, so a second call of `learn`, a loaded model and a
resumed run continue them as docs/schedules.md says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, get_args, get_origin, get_type_hints

import attrs

from rlk.hookspecs import hookimpl
from rlk_testing.contracts.algorithm.suite import AlgorithmSuite
from rlk_testing.contracts.shared.applies import applies
from rlk_testing.contracts.shared.contract import has_usual_settings

if TYPE_CHECKING:
    from rlk.running.run import Run


class AlgorithmScheduleChecks(AlgorithmSuite):
    """Checks that `AlgorithmContract` inherits."""

    def schedules(self) -> dict[str, Falls]:
        """A schedule for every setting that may be one and whose default is a number."""
        record = self.record()
        values = {} if record.config is None else attrs.asdict(self.config(), recurse=False)
        return {
            name: Falls(values[name])
            for name in values
            if record.config
            and takes_a_function(record.config, name)
            and isinstance(values[name], (int, float))
        }

    @applies(has_usual_settings, lambda suite: bool(suite.schedules()))
    def test_a_scheduled_setting_is_a_function_of_what_remains_by_the_runs_clock(self) -> None:
        schedules = self.schedules()
        with self.agent(**schedules) as agent:
            for reset in (True, False, True):
                for schedule in schedules.values():
                    schedule.follow(agent.run)
                before = agent.run.clock.iterations
                agent.learn(self.n_steps_scheduled, reset_num_timesteps=reset)
                collections = agent.run.clock.iterations - before
                for name, schedule in schedules.items():
                    assert len(schedule.asked) >= collections, (
                        f"{name} was a schedule and was evaluated {len(schedule.asked)} times in "
                        f"{collections} collections: run.schedule(name, …) and run.group(…, "
                        f"learning_rate=…) take the function and evaluate it before each"
                    )
                    wrong = [pair for pair in schedule.asked if pair[0] != pair[1]]
                    assert not wrong, (
                        f"{name} was evaluated at {wrong[0][0]} where {wrong[0][1]} of the run "
                        f"remained (reset_num_timesteps={reset}): schedules follow run.clock"
                    )

    @applies(has_usual_settings)
    def test_scheduled_numbers_go_on_over_calls_of_learn_and_after_loading(
        self, tmp_path: Path
    ) -> None:
        schedules, follows = self.schedules(), FollowsNumbers()
        settings = {**schedules, "plugins": [*self.run_settings().get("plugins", ()), follows]}
        with self.agent(**settings) as agent, self.agent(**schedules) as fresh:
            agent.learn(self.n_steps_scheduled)
            model = agent.save(tmp_path / "model")
            agent.learn(self.n_steps_scheduled, reset_num_timesteps=False)
            with self.loaded(model, agent, plugins=(follows,), **schedules) as loaded:
                loaded.learn(self.n_steps_scheduled, reset_num_timesteps=False)
            for start, end, total, found in follows.collections:
                begin = numbers_at(fresh.run, 0, 0, total)
                expected = numbers_at(fresh.run, start, end, total)
                for tag in expected:
                    assert expected[tag] in (begin[tag], found[tag]), (
                        f"{tag} is {found[tag]} at timestep {end} of {total}, not {expected[tag]}: "
                        f"it must be a function of run.clock alone"
                    )


def takes_a_function(config: type, name: str) -> bool:
    """Whether the type of a setting allows a function."""
    kind = get_type_hints(config)[name]
    return any(get_origin(one) is Callable for one in (kind, *get_args(kind)))


class Falls:
    """A linear schedule from a number to a tenth of it, which records every call.

    Attributes:
        asked: (its argument, remaining fraction by the run's clock) of calls since `follow`.
    """

    def __init__(self, initial: float) -> None:
        self.initial = float(initial)
        self.asked: list[tuple[float, float]] = []
        self._run: Run | None = None

    def follow(self, run: Run) -> None:
        self._run, self.asked = run, []

    def __call__(self, remaining: float) -> float:
        if self._run is not None:
            self.asked.append((remaining, self._run.clock.remaining()))
        return self.initial * (0.1 + 0.9 * remaining)


class FollowsNumbers:
    """A plugin that records the scheduled numbers at the end of every collection.

    Attributes:
        collections: (timestep at its start, timestep at its end, timestep at which this call of
            `learn` ends, numbers).
    """

    def __init__(self) -> None:
        self.collections: list[tuple[int, int, int, Mapping[str, float]]] = []
        self._start = 0

    @hookimpl
    def rlk_rollout_start(self, run: Run) -> None:
        self._start = run.timesteps

    @hookimpl
    def rlk_rollout_end(self, run: Run) -> None:
        numbers = run.scheduled()
        now = (self._start, run.timesteps, run.clock.total_timesteps, numbers)
        self.collections.append(now)


def numbers_at(run: Run, start: int, end: int, total: int) -> Mapping[str, float]:
    """The numbers at the end of a collection; some are evaluated at its start, others each step."""
    run.clock.timesteps, run.clock.total_timesteps = start, total
    run.refresh_schedules()
    run.clock.timesteps = end
    return run.scheduled()
