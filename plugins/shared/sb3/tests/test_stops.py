"""Callbacks of Stable-Baselines3 that stop the training: after which call they do, by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from rlk_sb3.common.callbacks import (
    EvalCallback,
    StopTrainingOnMaxEpisodes,
    StopTrainingOnNoModelImprovement,
)

MODEL: Any = SimpleNamespace(num_timesteps=0)


def test_episodes_are_counted_per_environment() -> None:
    stop = StopTrainingOnMaxEpisodes(2)
    stop.model = MODEL
    found = []
    for dones in ([True, False], [True, True], [False, False], [False, True]):
        stop.locals = {"dones": np.array(dones)}
        found.append(stop.on_step())
    assert found == [True, True, True, False], "the fourth episode of two environments"
    assert stop.n_episodes == 4


def test_evaluations_without_a_better_model_are_counted_after_the_first_ones(counting: Any) -> None:
    stop = StopTrainingOnNoModelImprovement(max_no_improvement_evals=1, min_evals=2)
    parent = EvalCallback(counting(), callback_after_eval=stop, verbose=0)
    stop.model = MODEL
    found = []
    for best in (5, 5, 5, 6, 6, 6):
        parent.best_mean_reward, parent.last_mean_reward = best, best - 2
        found.append((stop.on_step(), stop.no_improvement_evals))
    # The second evaluation is one of the first two, the fourth has a better model.
    assert found == [(True, 0), (True, 0), (True, 1), (True, 0), (True, 1), (False, 2)]
