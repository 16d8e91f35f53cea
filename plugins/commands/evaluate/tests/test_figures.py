"""The figures that `rlk evaluate` prints, each under its own name."""

from __future__ import annotations

import json
from pathlib import Path

import attrs

from rlk_evaluate.command import _as_json, _as_line, _as_text, _Played
from rlk_evaluation.evaluate import Evaluation

RESULT = Evaluation([1.0, 4.0], [10, 30], [True, False], timesteps=12_345)
PLAYED = _Played(RESULT, Path("run/model.zip"), "Maze-v0", deterministic=True, seed=7)


def test_programs_get_numbers() -> None:
    assert json.loads(_as_json(attrs.evolve(PLAYED, deterministic=False))) == {
        "mean_return": 2.5,
        "std_return": 1.5,
        "episodes": 2,
        "mean_length": 20.0,
        "model": "run/model.zip",
        "deterministic": False,
        "seed": 7,
        "success_rate": 0.5,
    }


def test_people_get_a_table() -> None:
    assert _as_text(PLAYED).splitlines() == [
        "model         run/model.zip  (12,345 timesteps)",
        "environment   Maze-v0",
        "episodes      2  (deterministic, seed 7)",
        "mean_return   2.5  (from 1 to 4)",
        "std_return    1.5",
        "mean_length   20.0 steps",
        "success_rate  50.0%",
    ]


def test_a_model_of_several_has_a_line() -> None:
    line = "       2.5 +/- 1.5        50.0% success  Maze-v0  run/model.zip"
    assert _as_line(PLAYED) == line
    never_told = attrs.evolve(PLAYED, result=Evaluation([1.0, 4.0], [10, 30]))
    assert _as_line(never_told) == "       2.5 +/- 1.5       Maze-v0  run/model.zip"


def test_small_returns_and_high_rates_keep_their_digits() -> None:
    result = Evaluation([0.0003, -0.00025], [10, 30], [1.0, 0.992])
    told = _as_text(attrs.evolve(PLAYED, result=result))
    assert "mean_return   2.5e-05  (from -0.00025 to 0.0003)\nstd_return    0.000275\n" in told
    assert "success_rate  99.6%" in told
