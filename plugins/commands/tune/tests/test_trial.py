"""One trial: its value, its failures, and what the pruner makes of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import numpy as np
import optuna
import pytest
from optuna.trial import TrialState, create_trial

import rlk
from rlk.errors import EnvironmentFailed
from rlk.planning.resolve import resolve
from rlk.registry.kernel import default_kernel
from rlk_evaluation.evaluate import Evaluation
from rlk_tune.search import Search
from rlk_tune.study import REASON, SEED, TIMESTEPS, _pruner, counted, distribution, open_study
from rlk_tune.trial import Watch, run_trial

Make = Callable[..., Search]
GIVEN = {"env": "CartPole-v1", "preset": "none"}


def with_trial(study: optuna.Study, search: Search, values: dict[int, float]) -> None:
    """A trial that has been run, with these mean returns at its evaluations."""
    ranges = {name: distribution(range_) for name, range_ in search.ranges.items()}
    params: dict[str, Any] = {"learning_rate": 1e-3, "gamma": "0.9"}
    study.add_trial(
        create_trial(
            params=params,
            distributions=ranges,
            value=values[max(values)],
            intermediate_values=values,
        )
    )


class Hears:
    """Keeps the mean return of the latest evaluation."""

    mean: float

    @rlk.hookimpl
    def rlk_evaluation_end(self, result: Evaluation) -> None:
        self.mean = result.mean_return


def test_the_value_is_the_mean_return_that_training_ends_with(tmp_path: Path, search: Make) -> None:
    mine = search()
    trial = run_trial(mine, open_study(tmp_path, mine), job=0)
    assert trial.state == TrialState.COMPLETE
    assert list(trial.intermediate_values) == [1, 2, 3, 4]
    assert trial.value == trial.intermediate_values[4]
    assert trial.user_attrs[TIMESTEPS] == 64
    spec = mine.evaluated(mine.spec(mine.settings_of(trial.params), trial.user_attrs[SEED]))
    with rlk.make(spec.algo, plugins=spec.plugins, **spec.given) as agent:
        hears = Hears()
        agent.learn(callback=hears)
        assert hears.mean == trial.value
        assert agent.plan.algorithm.config.learning_rate == trial.params["learning_rate"]


class Luck(gym.Env[Any, Any]):
    """Episodes of one step, whose reward depends on their seed alone."""

    observation_space = gym.spaces.Box(0.0, 1.0, (1,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self.reward = float(self.np_random.random())
        return np.zeros(1, np.float32), {}

    def step(self, action: Any) -> Any:
        return np.zeros(1, np.float32), self.reward, True, False, {}


def test_all_trials_are_evaluated_in_the_same_episodes(search: Make) -> None:
    gym.register("Luck-v0", Luck)
    mine = search(given={"env": "Luck-v0", "preset": "none", "n_threads": 1, "nminibatches": 1})
    means = []
    for seed, n_steps in ((1, 8), (2, 10)):  # their trainings end at 64 and at 70 timesteps
        spec = mine.evaluated(mine.spec({"n_steps": n_steps, "total_timesteps": 64}, seed))
        hears = Hears()
        with rlk.make(spec.algo, plugins=spec.plugins, **spec.given) as agent:
            agent.learn(callback=hears)
        means.append(hears.mean)
    assert means[0] == means[1]


@pytest.mark.parametrize(
    "typed", [{"plugins": ["evaluation:every=7"]}, {"given": {**GIVEN, "evaluation.every": 7}}]
)
def test_an_evaluation_that_a_user_sets_is_left_so(search: Make, typed: dict[str, Any]) -> None:
    mine = search(**typed)
    plan = resolve(default_kernel(), mine.evaluated(mine.spec({}, 1)))
    (evaluation,) = (one for one in plan.callbacks if one.name == "evaluation")
    config: Any = evaluation.config
    assert (config.every, config.episodes, config.seed) == (7, 2, 3)


@pytest.mark.parametrize("drawn", ["none", "normal-noise"])
def test_none_is_drawn_as_it_is_typed_after_set(search: Make, drawn: str) -> None:
    mine = search(algo="ddpg", given={"env": "Pendulum-v1"}, searched={"noise": f"{drawn},x"})
    plan = resolve(default_kernel(), mine.spec(mine.settings_of({"noise": drawn}), 1))
    assert [noise.name for noise in plan.noises] == ([] if drawn == "none" else [drawn])
    mine = search(algo="a2c", given={"env": "CartPole-v1"}, searched={"preset": "none,auto"})
    presets = [
        resolve(default_kernel(), mine.spec(mine.settings_of({"preset": text}), 1)).preset
        for text in ("none", "auto")
    ]
    assert presets[0] == "" and presets[1] != ""


def test_a_trial_below_the_median_is_pruned(tmp_path: Path, search: Make) -> None:
    mine = search(pruner="median")
    study = open_study(tmp_path, mine)
    for _ in range(5):
        with_trial(study, mine, {1: 90.0, 2: 90.0, 3: 90.0, 4: 90.0})
    trial = run_trial(mine, study, job=0)
    assert trial.state == TrialState.PRUNED
    assert list(trial.intermediate_values) == [1]
    assert trial.value == trial.intermediate_values[1]
    assert len(counted(study)) == 6


@pytest.mark.parametrize(
    ("known", "expected"), [(4, [False, False, False]), (5, [False, True, True])]
)
def test_the_median_needs_five_trials_and_spares_a_third_of_the_evaluations(
    search: Make, known: int, expected: list[bool]
) -> None:
    mine = search(pruner="median", evaluations=6)
    study = optuna.create_study(direction="maximize", pruner=_pruner(mine))
    for _ in range(known):
        with_trial(study, mine, dict.fromkeys((1, 2, 3), 9.0))
    trial, found = study.ask(), []
    for step in (1, 2, 3):
        trial.report(0.0, step)
        found.append(trial.should_prune())
    assert found == expected


def test_each_part_of_the_training_is_reported_once_and_its_end_is_never_pruned() -> None:
    told: list[tuple[float, int]] = []
    trial: Any = SimpleNamespace(
        report=lambda value, step: told.append((value, step)), should_prune=lambda: True
    )
    watch, pruned = Watch(trial, evaluations=4), []
    for timesteps in (10, 26, 30, 100):
        clock = SimpleNamespace(total_timesteps=100)
        run: Any = SimpleNamespace(timesteps=timesteps, clock=clock)
        watch.rlk_evaluation_end(run, Evaluation([float(timesteps)], [1]))
        pruned.append(watch.is_pruned)
        assert watch.value == timesteps
    assert told == [(26.0, 1), (100.0, 4)] and pruned == [False, True, True, False]


def test_evaluations_are_so_far_apart_that_there_are_no_more_than_asked(search: Make) -> None:
    mine = search(timesteps=100, evaluations=3)
    assert mine.evaluated(mine.spec({}, 1)).given["evaluation.every"] == 34


def test_a_trial_that_gives_non_finite_numbers_has_failed(tmp_path: Path, search: Make) -> None:
    mine = search(searched={"learning_rate": "1e30,1e31"}, trials=2)
    study = open_study(tmp_path, mine)
    trial = run_trial(mine, study, job=0)
    assert trial.state == TrialState.FAIL
    assert trial.user_attrs[REASON]
    assert counted(study) == [trial]


def test_settings_that_do_not_go_together_have_failed(tmp_path: Path, search: Make) -> None:
    mine = search(searched={"n_steps": "2,3", "nminibatches": "2,3"})
    study = open_study(tmp_path, mine)
    trial = run_trial(mine, study, job=0)
    assert trial.state == TrialState.FAIL
    assert "two" in trial.user_attrs[REASON]


def test_the_value_of_a_trial_that_a_callback_ends_is_that_of_its_policy(
    tmp_path: Path, search: Make
) -> None:
    mine = search(plugins=["max-episodes:max_episodes=1"])
    trial = run_trial(mine, open_study(tmp_path, mine), job=0)
    assert trial.state == TrialState.COMPLETE and trial.value is not None


def test_a_trial_that_ends_before_any_evaluation_has_failed(tmp_path: Path, search: Make) -> None:
    plugins = ["max-episodes:max_episodes=1", "evaluation:at_end=false"]
    mine = search(plugins=plugins)
    study = open_study(tmp_path, mine)
    trial = run_trial(mine, study, job=0)
    assert trial.state == TrialState.FAIL
    assert trial.user_attrs[REASON] == "training ended at 8 timesteps, before any evaluation"
    assert counted(study) == [trial]


def test_a_trial_that_ends_before_its_first_update_has_failed(tmp_path: Path, search: Make) -> None:
    mine = search(algo="dqn", given={**GIVEN, "total_timesteps": 64, "learning_starts": 65})
    study = open_study(tmp_path, mine)
    trial = run_trial(mine, study, job=0)
    said = "nothing was learnt: training ended at 64 timesteps, before the first update"
    assert trial.state == TrialState.FAIL and trial.user_attrs[REASON] == said
    assert counted(study) == [trial]


def test_what_is_no_fault_of_the_settings_ends_the_search(tmp_path: Path, search: Make) -> None:
    mine = search()
    mine = search(given={**mine.given, "env.spoil": "error", "env.spoil_at": 40})
    study = open_study(tmp_path, mine)
    with pytest.raises(EnvironmentFailed):
        run_trial(mine, study, job=0)
    (trial,) = counted(study)
    assert trial.state == TrialState.FAIL and "was told to fail" in trial.user_attrs[REASON]
    with pytest.raises(EnvironmentFailed):
        run_trial(mine, study, job=0)
    assert study.trials[1].params != trial.params, "a search that is continued gets past it"


@pytest.mark.parametrize(
    ("algo", "drawn", "said"),
    [
        ("dqn", "buffer_size", "storage 'replay' needs .* of memory at once"),
        ("a2c", "n_steps", "allocate"),
    ],
)
def test_a_trial_that_needs_more_memory_than_there_is_has_failed(
    tmp_path: Path, search: Make, algo: str, drawn: str, said: str
) -> None:
    mine = search(algo=algo, given=GIVEN, searched={drawn: f"{10**14},{10**15}"})
    study = open_study(tmp_path, mine)
    trial = run_trial(mine, study, job=0)
    assert counted(study) == [trial]
    assert re.search(said, trial.user_attrs[REASON])
