"""Every case of the benchmarks can be imported, and has the functions that `compare.py` needs."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
CASES = sorted(
    path.stem for path in (BENCHMARKS / "cases").glob("*.py") if not path.stem.startswith("_")
)
#: What cases share.
LIBRARIES = {"training"}


@pytest.mark.parametrize("name", [name for name in CASES if name not in LIBRARIES])
def test_a_case_is_whole(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    case = importlib.import_module(f"cases.{name}")
    assert callable(case.subject) and any(each.startswith("rlk") for each in case.LIBRARIES)
    assert case.WARM_UP >= 0 and case.TIMED > 0
