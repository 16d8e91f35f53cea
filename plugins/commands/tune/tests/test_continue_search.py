"""Which command lines continue a search, and what is said of its damaged files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rlk.errors import BadFile, PlanError
from rlk.planning.spec import make_spec
from rlk_tune import begin
from rlk_tune import study as module
from rlk_tune.begin import new_search
from rlk_tune.continue_search import search_in
from rlk_tune.ranges import parse_searches
from rlk_tune.search import FILE, Search
from rlk_tune.study import next_trial, open_study

FIELDS = {"trials": 4, "evaluations": 2, "episodes": 1, "sampler": "random", "pruner": "none"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """That of a search with the default environment of its algorithm."""
    search, _ = new_search(
        make_spec("a2c", {"preset": "none"}), parse_searches(["gamma=0.9,0.99"]), "none", FIELDS
    )
    search.write(tmp_path)
    return tmp_path


def going_on(folder: Path, given: dict[str, Any], **typed: Any) -> Search:
    return search_in(folder, make_spec("", given), {}, typed)


@pytest.mark.parametrize(
    ("given", "typed", "said"),
    [
        ({"env": "CartPole-v1"}, {}, "was begun without env='CartPole-v1'. Leave that out"),
        ({"total_timesteps": 7}, {}, "has total_timesteps=100000.*, not 7. Leave that out"),
        ({"gama": 1}, {}, "was begun without gama=1. Leave that out"),
        ({"gamma": 0.99}, {}, "was begun without gamma=0.99. Leave that out"),
        ({}, {"space": "nonsense"}, "has space='none', not 'nonsense'. Leave that out"),
    ],
)
def test_what_its_trials_do_not_have_is_refused(
    folder: Path, given: dict[str, Any], typed: dict[str, Any], said: str
) -> None:
    with pytest.raises(PlanError, match=said):
        going_on(folder, given, **typed)


def test_without_a_seed_one_is_drawn_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(begin, "draw_seed", lambda: 2**32 - 1)
    spec, ranges = make_spec("a2c", {"preset": "none"}), parse_searches(["gamma=0.9,0.99"])
    search, _ = new_search(spec, ranges, "none", FIELDS)
    assert search.seed == 2**32 - 1
    search.write(tmp_path)
    assert going_on(tmp_path, {}) == search


def test_a_required_setting_may_be_searched(tmp_path: Path) -> None:
    spec = make_spec("a2c", {"preset": "none", "plugins": ["max-episodes"]})
    ranges = parse_searches(["max-episodes.max_episodes=7,9", "gamma=0.9,0.99"])
    search, notes = new_search(spec, ranges, "none", FIELDS)
    assert search.ranges == ranges and not notes
    assert search.common().given["max-episodes.max_episodes"] == 7
    search.write(tmp_path)
    assert search_in(tmp_path, make_spec("", {}), {}, {}) == search
    with pytest.raises(PlanError, match="max_episodes"):
        new_search(spec, parse_searches(["gamma=0.9,0.99"]), "none", FIELDS)


@pytest.mark.parametrize(
    ("field", "value", "option"),
    [
        ("given", {"env": "./theirs.py:Far"}, "--env ./theirs.py:Far"),
        ("given", {"policy": "./theirs.py:Net"}, "--set policy=./theirs.py:Net"),
        ("given", {"evaluation.env": "theirs:Far"}, "--set evaluation.env=theirs:Far"),
        ("given", {"env.car": ["json.tool"]}, "--set 'env.car=['"),
        ("plugins", ["./theirs.py:Wrap:k=1"], "--plugin ./theirs.py:Wrap:k=1"),
        ("plugins", ["evaluation:env=./theirs.py:Far"], "--plugin evaluation:env=./theirs.py:Far"),
        ("algo", "./theirs.py:Algorithm", "--algo ./theirs.py:Algorithm"),
    ],
)
def test_code_that_a_file_names_is_typed_again_or_not_run(
    folder: Path, field: str, value: Any, option: str
) -> None:
    found = json.loads((folder / FILE).read_text())
    (folder / FILE).write_text(json.dumps({**found, field: value}))
    with pytest.raises(PlanError, match="begun with code, which no file may run by") as refused:
        going_on(folder, {})
    assert option.split("'")[0] in str(refused.value)
    again = make_spec(value, {}) if field == "algo" else make_spec("", {field: value})
    again = make_spec("", value) if field == "given" else again
    assert getattr(search_in(folder, again, {}, {}), field) == value


@pytest.mark.parametrize("line", ["nonsense", "{}", '{"op_code": 3}', "[1]"])
def test_a_damaged_study_is_named(tmp_path: Path, search: Callable[..., Search], line: str) -> None:
    open_study(tmp_path, search())
    with (tmp_path / module.FILE).open("a") as file:
        file.write(f"{line}\n")
    with pytest.raises(BadFile, match=r"study\.log is damaged: .* begin anew in another folder"):
        open_study(tmp_path, search())


def test_ranges_that_were_changed_are_named(tmp_path: Path, search: Callable[..., Search]) -> None:
    study = open_study(tmp_path, search())
    next_trial(study, search(), job=0)
    changed = search(searched={"gamma": "0.5,0.6"})
    with pytest.raises(BadFile, match=r"search\.json has other ranges than the trials in study"):
        next_trial(study, changed, job=0)
