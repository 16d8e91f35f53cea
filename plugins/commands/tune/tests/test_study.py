"""The storage of a search: what counts, what is drawn, and what a killed process leaves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import TrialState

from rlk.errors import BadFile
from rlk_tune.ranges import parse_range
from rlk_tune.search import FILE as SEARCH_FILE
from rlk_tune.search import Search, read
from rlk_tune.study import (
    FILE,
    REASON,
    completed,
    counted,
    distribution,
    end_unfinished,
    mend,
    next_trial,
    open_study,
)

Make = Callable[..., Search]


def drawn(study: optuna.Study, search: Search, values: list[float | None]) -> list[object]:
    """What as many trials draw, which end with these values, or are interrupted."""
    found: list[object] = []
    for value in values:
        trial, seed = next_trial(study, search, job=0)
        found.append((trial.params, seed))
        if value is None:
            study.tell(trial, state=TrialState.FAIL)
        else:
            study.tell(trial, value)
    return found


@pytest.mark.parametrize("sampler", ["random", "tpe"])
def test_a_search_that_was_interrupted_draws_what_one_that_was_not_draws(
    tmp_path: Path, search: Make, sampler: str
) -> None:
    values: list[float | None] = [float(number % 5) for number in range(14)]
    found = []
    for name in ("whole", "parts"):
        (tmp_path / name).mkdir()
        mine = search(sampler=sampler)
        study = open_study(tmp_path / name, mine)
        if name == "whole":
            found.append(drawn(study, mine, values))
            continue
        parts = drawn(study, mine, [*values[:12], None])[:12]
        study = open_study(tmp_path / name, mine)
        found.append(parts + drawn(study, mine, values[12:]))
        assert len(counted(study)) == 14
    assert found[0] == found[1]
    assert len({str(each) for each in found[0]}) == 14


def test_a_range_has_the_same_form_for_optuna() -> None:
    found = {text: distribution(parse_range("x", text)) for text in ("1:20", "log:1:20", "a,b")}
    assert found == {
        "1:20": IntDistribution(1, 20),
        "log:1:20": IntDistribution(1, 20, log=True),
        "a,b": CategoricalDistribution(["a", "b"]),
    }
    assert distribution(parse_range("x", "0.5:2.0")) == FloatDistribution(0.5, 2.0)
    assert distribution(parse_range("x", "log:0.5:2.0")) == FloatDistribution(0.5, 2.0, log=True)


def test_jobs_draw_apart_from_each_other(tmp_path: Path, search: Make) -> None:
    study = open_study(tmp_path, search())
    one, other = next_trial(study, search(), job=0)[0], next_trial(study, search(), job=1)[0]
    assert one.params != other.params


def test_trials_with_a_value_or_a_reason_count(tmp_path: Path, search: Make) -> None:
    study = open_study(tmp_path, search())
    ends = [next_trial(study, search(), job=0)[0] for _ in range(6)]
    ends[0].report(1.0, 1)
    study.tell(ends[0], state=TrialState.PRUNED)
    ends[1].set_user_attr(REASON, "NaN")
    study.tell(ends[1], state=TrialState.FAIL)
    for trial, value in zip(ends[2:5], (-3.0, 2.0, 2.0), strict=True):
        study.tell(trial, value)
    end_unfinished(study)
    assert [trial.number for trial in counted(study)] == [0, 1, 2, 3, 4]
    assert [trial.number for trial in completed(study)] == [3, 4, 2]
    assert study.get_trials(states=(TrialState.RUNNING,)) == []


def test_what_a_killed_process_left_is_mended(tmp_path: Path, search: Make) -> None:
    drawn(open_study(tmp_path, search()), search(), [1.0])
    path = tmp_path / FILE
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"op_code": 4, "worker')
    (tmp_path / f"{FILE}.lock").touch()
    mend(tmp_path)
    assert path.read_bytes() == whole
    assert len(counted(open_study(tmp_path, search()))) == 1
    assert not list(tmp_path.glob("*.lock"))


def test_a_folder_without_a_study_needs_no_mending(tmp_path: Path) -> None:
    mend(tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_search_is_read_as_it_was_written(tmp_path: Path, search: Make) -> None:
    search().write(tmp_path)
    assert read(tmp_path) == search()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "cannot be read"),
        ("{}", "'algo' is missing"),
        ('{"algo": 3}', "search.json"),
    ],
)
def test_a_damaged_search_is_named(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / SEARCH_FILE).write_text(text)
    with pytest.raises(BadFile, match=said):
        read(tmp_path)
