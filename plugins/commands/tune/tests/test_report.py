"""What a search prints of its trials."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from optuna.distributions import FloatDistribution
from optuna.trial import FrozenTrial, TrialState, create_trial

from rlk_tune.report import best_trials, line
from rlk_tune.search import Search
from rlk_tune.study import REASON, open_study


def trial(number: int, rate: float, **made: Any) -> FrozenTrial:
    ranges = {"learning_rate": FloatDistribution(0.0, 1.0)}
    found = create_trial(params={"learning_rate": rate}, distributions=ranges, **made)
    found.number = number
    return found


def test_the_best_trials_stand_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)  # a pipe has room for all
    trials = [trial(3, 0.00123456, value=212.345), trial(12, 0.01, value=0.002)]
    assert list(best_trials(trials)) == [
        "               trial 3   trial 12",
        "mean return    212.345   0.002",
        "learning_rate  0.001235  0.01",
    ]


def test_trials_for_which_a_terminal_has_no_room_stand_below(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "36")
    trials = [trial(number, 0.5, value=1.0) for number in (3, 12, 13)]
    assert list(best_trials(trials)) == [
        "               trial 3  trial 12",
        "mean return    1        1",
        "learning_rate  0.5      0.5",
        "",
        "               trial 13",
        "mean return    1",
        "learning_rate  0.5",
    ]
    monkeypatch.setenv("COLUMNS", "5")
    assert len(list(best_trials(trials))) == 3 * 3 + 2, "a trial for each block, at least"


def test_a_trial_that_did_not_end_says_how_far_it_came_or_why(
    tmp_path: Path, search: Callable[..., Search], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)  # no line is broken
    mine = search()
    study = open_study(tmp_path, mine)
    seen = {1: 9.0, 2: 8.0}
    pruned = trial(3, 0.5, state=TrialState.PRUNED, value=0.0014, intermediate_values=seen)
    assert line(pruned, mine, study) == "trial    3      0.0014  pruned 2/4  learning_rate=0.5"
    failed = trial(4, 0.5, state=TrialState.FAIL, user_attrs={REASON: "NaN\nat once"})
    assert (
        line(failed, mine, study) == "trial    4      failed              learning_rate=0.5  (NaN)"
    )
