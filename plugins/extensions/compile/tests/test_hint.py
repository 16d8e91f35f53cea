"""What a long run without `compile` says, and that it says nothing else."""

from __future__ import annotations

from typing import Any

import pytest

import rlk
from rlk_compile.hint import TIMED, hint
from rlk_testing import stand_in_kernel

MATCH = "rlk_testing.environments:DiscreteMatch"


def test_it_says_what_would_be_saved_where_that_is_three_times_the_cost() -> None:
    assert hint(0.001, 200_000) == (
        "--plugin compile would save about 2.0 min of the 3.3 min that this run's updates take."
    )
    assert hint(0.001, 149_000) == "", "0.6 of 149 s is less than three times 30 s"
    assert hint(0.001, 151_000) != ""
    assert hint(0.040, 60_000) == (
        "--plugin compile would save about 12 min of the 40 min that this run's updates take."
    )


def learnt(steps: int, *plugins: str, **settings: Any) -> Any:
    keywords = {"env": MATCH, "seed": 2, "n_threads": 1, "n_steps": 4, "batch_size": 8, **settings}
    kernel = stand_in_kernel(discover=True)
    with rlk.make("stand-in", kernel=kernel, plugins=list(plugins), **keywords) as agent:
        agent.learn(steps)
        return agent.run.parameters.flat.clone()


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every update takes ten seconds, by a clock that is not there."""
    ticks = iter(range(0, 10_000, 10))
    monkeypatch.setattr("rlk_compile.hint.time.perf_counter", lambda: float(next(ticks)))


def test_a_long_run_is_told_once_and_is_otherwise_the_same(
    slow: None, capfd: pytest.CaptureFixture[str]
) -> None:
    plain = learnt(200, verbose=1)
    assert "--plugin compile" not in capfd.readouterr().err
    hinted = learnt(200, "compile-hint", verbose=1)
    printed = capfd.readouterr().err
    assert printed.count("--plugin compile would save about") == 1
    assert hinted.equal(plain) and TIMED < 200 // 4


@pytest.mark.parametrize(
    "settings", [{"verbose": 0}, {"verbose": 1, "compile": {"backend": "eager"}}]
)
def test_nothing_is_said_quietly_or_with_compile(
    settings: dict[str, Any], slow: None, capfd: pytest.CaptureFixture[str]
) -> None:
    learnt(200, "compile-hint", *(["compile"] if "compile" in settings else []), **settings)
    assert "would save" not in capfd.readouterr().err
