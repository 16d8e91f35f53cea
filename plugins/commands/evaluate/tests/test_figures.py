"""The figures that `rlk evaluate` prints, each under its own name."""

from __future__ import annotations

from pathlib import Path

from rlk_evaluate.command import _as_json, _as_text
from rlk_evaluation.evaluate import Evaluation

MODEL = Path("run/model.zip")
RESULT = Evaluation([1.0, 4.0], [10, 30], [True, False], timesteps=12_345)


def test_programs_get_numbers() -> None:
    assert _as_json(RESULT, MODEL, False, 7) == {
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
    assert _as_text(RESULT, MODEL, True, 7, "Maze-v0").splitlines() == [
        "model         run/model.zip  (12,345 timesteps)",
        "environment   Maze-v0",
        "episodes      2  (deterministic, seed 7)",
        "mean_return   2.5  (from 1 to 4)",
        "std_return    1.5",
        "mean_length   20.0 steps",
        "success_rate  50.0%",
    ]


def test_small_returns_and_high_rates_keep_their_digits() -> None:
    result = Evaluation([0.0003, -0.00025], [10, 30], [1.0, 0.992])
    told = _as_text(result, MODEL, True, 7, "Maze-v0")
    assert "mean_return   2.5e-05  (from -0.00025 to 0.0003)\nstd_return    0.000275\n" in told
    assert "success_rate  99.6%" in told
