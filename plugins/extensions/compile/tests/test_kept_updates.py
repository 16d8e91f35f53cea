"""What a run does with programs that it finds on disk, and when it keeps its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs
import pytest
from compiled_runs import compiled, eagerly, made

from rlk_compile.backend import Strategy
from rlk_compile.kept import cached_programs
from rlk_compile.kept.cache import Cache, Entry
from rlk_compile.program import Program
from rlk_compile.trial import Report

KEEPS = {"backend": "inductor", "passes": []}


class Kept:
    """The disk of one run: what it finds there, removes, marks as used, and adds."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with made() as agent:
            agent.learn(4)
            ((self.program,),) = compiled(agent)._programs.values()
        self.found: list[Callable[..., Any]] = []
        self.asked, self.added = 0, 0
        self.removed: list[str] = []
        self.used: list[str] = []
        # An eager strategy takes the place of the library, which takes half a minute to compile.
        strategy = Strategy("eager", ahead=True)
        monkeypatch.setattr("rlk_compile.update.strategies", lambda *_: [strategy])
        monkeypatch.setattr(cached_programs, "candidates", self.candidates)
        monkeypatch.setattr(
            Cache, "remove", lambda _, entry: self.removed.append(str(entry.library))
        )
        monkeypatch.setattr(
            Cache, "mark_used", lambda _, entry: self.used.append(str(entry.library))
        )

    def candidates(
        self, cache: Any, key: str, update: Any, batch: Any, optimise: Any
    ) -> Iterator[tuple[Program, Entry]]:
        self.asked += 1
        call_plan = attrs.evolve(self.program.call_plan, strategy="of another run")
        for number, execute in enumerate(self.found):
            program = Program(call_plan, execute, update, batch, optimise)
            yield program, Entry(call_plan, Path(str(number)))

    def right(self, *given: Any) -> Sequence[Any]:
        return self.program._execute(*given)

    def wrong(self, *given: Any) -> Sequence[Any]:
        """Computes the same, and writes none of it."""
        return self.program._execute(*[tensor.clone() for tensor in given])


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Kept:
    return Kept(monkeypatch)


def report(**settings: Any) -> Report:
    """Of a run, after it is seen to learn what an eager one does."""
    with made(**{"compile": KEEPS, **settings}) as agent:
        agent.learn(40)
        assert agent.run.parameters.flat.allclose(eagerly(steps=40), atol=1e-6)
        (found,) = compiled(agent).reports.values()
    assert isinstance(found, Report)
    return found


def test_the_first_program_that_makes_the_eager_step_is_used_and_others_are_removed(
    kept: Kept, capfd: pytest.CaptureFixture[str]
) -> None:
    kept.found = [kept.wrong, kept.right, kept.right]
    found = report(verbose=1)
    assert found.from_cache and found.strategy == "of another run"
    assert (kept.removed, kept.used) == (["0"], ["1"])
    assert "is one graph, found compiled in" in capfd.readouterr().err


def test_a_run_that_finds_none_compiles_and_says_why_it_keeps_nothing(
    kept: Kept, capfd: pytest.CaptureFixture[str]
) -> None:
    kept.found = [kept.wrong]
    found = report(verbose=1)
    assert not found.from_cache and (kept.removed, kept.used) == (["0"], [])
    assert found.not_cached == "eager, ahead of time leaves no library"
    assert "not kept for the next start: eager, ahead of time" in capfd.readouterr().err


def test_a_run_does_not_look_where_others_may_have_put_code(
    kept: Kept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "rlk" / "compile").mkdir(parents=True)
    (tmp_path / "rlk" / "compile").chmod(0o777)
    kept.found = [kept.right]
    found = report()
    assert not found.from_cache and kept.asked == 0
    assert found.not_cached.startswith("other users may write to ")


def test_a_run_that_is_told_to_keep_nothing_looks_for_nothing(kept: Kept) -> None:
    kept.found = [kept.right]
    found = report(compile={**KEEPS, "keep": False})
    assert not found.from_cache and kept.asked == 0 and found.not_cached == ""


@pytest.mark.parametrize("is_found", [True, False])
def test_a_pass_that_fails_is_told_whether_a_program_is_found_or_not(
    is_found: bool,
    kept: Kept,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("rlk_compile.update.ready", lambda *_: ([], "breaks: no such compiler"))
    kept.found = [kept.right] if is_found else []
    assert report(verbose=1).why_not == "breaks: no such compiler"
    assert "Not compiled in a better way: breaks: no such compiler." in capfd.readouterr().err
