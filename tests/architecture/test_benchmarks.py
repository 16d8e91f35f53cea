"""Every case of the benchmarks can be imported, has the functions that `compare.py` needs, and each
library that it names can train it.
"""

from __future__ import annotations

import ast
import importlib
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
CASES = sorted(
    path.stem for path in (BENCHMARKS / "cases").glob("*.py") if not path.stem.startswith("_")
)
#: What cases share.
LIBRARIES = {"training"}
#: What a training prints.
FIGURES = {"steps_per_second": 100.0, "updates": 10.0, "compile_seconds": 0.0}


@pytest.mark.parametrize("name", [name for name in CASES if name not in LIBRARIES])
def test_a_case_is_whole(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    case = importlib.import_module(f"cases.{name}")
    assert callable(case.subject) and any(each.startswith("rlk") for each in case.LIBRARIES)
    assert case.WARM_UP >= 0 and case.TIMED > 0


def functions_of(library: str) -> set[str]:
    """What the peer's module defines, which is read and not imported: no peer is needed here."""
    tree = ast.parse((BENCHMARKS / "peers" / f"{library}.py").read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def served() -> list[tuple[str, str]]:
    """Every case with every library of `peers` that it names."""
    pairs = []
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        peers = importlib.import_module("peers")
        for name in CASES:
            case = importlib.import_module(f"cases.{name}")
            named = getattr(case, "LIBRARIES", ())
            pairs += [(name, library) for library in peers.NAMES if library in named]
    return pairs


@pytest.mark.parametrize(("name", "library"), served())
def test_a_peer_serves_the_case(name: str, library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    case = importlib.import_module(f"cases.{name}")
    made: list[tuple[str, str, Any]] = []
    monkeypatch.setattr(case, "train_with", lambda *arguments: made.append(arguments))
    case.subject(library)
    ((peer, algo, settings),) = made
    assert peer == library and algo in functions_of(library)
    assert settings.env == case.ENV


def test_a_missing_peer_is_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    compare = importlib.import_module("compare")
    monkeypatch.setattr(compare, "measure", lambda *_: dict(FIGURES))
    monkeypatch.setitem(compare.MODULES, "sb3", "no_such_module")
    monkeypatch.setitem(compare.MODULES, "skrl", "json")
    wanted = Namespace(
        libraries=["rlk", "sb3", "skrl"], repetitions=1, clock="cpu", peer_python=sys.executable
    )
    compare.compare("dqn", wanted)
    printed = capsys.readouterr()
    assert "'sb3' is left out" in printed.err and "pip install -r" in printed.err
    assert "rlk / skrl: median 1.00" in printed.out and "sb3" not in printed.out
