"""Which programs on disk a run takes, with its own classes and functions."""

from __future__ import annotations

import copy
import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import pytest
from compiled_runs import Halves, compiled, made

from rlk_compile.backend import Built, Strategy
from rlk_compile.kept import cached_programs
from rlk_compile.kept.cache import Cache
from rlk_compile.kept.cached_programs import add

MINE = """
from rlk.records import Loss
from rlk_testing.stand_ins import StandIn

class Mine(StandIn):
    def loss(self, batch):
        loss = super().loss(batch)
        return Loss({factor} * loss.value, metrics=loss.metrics, outputs=loss.outputs)
"""


@pytest.fixture
def imported(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Path, float], Any]]:
    """Imports `mine` from a folder, as a new process would; it is written there first."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def imported(folder: Path, factor: float) -> Any:
        folder.mkdir(exist_ok=True)
        (folder / "mine.py").write_text(MINE.format(factor=factor))
        monkeypatch.syspath_prepend(folder)
        sys.modules.pop("mine", None)
        return importlib.import_module("mine").Mine

    yield imported
    sys.modules.pop("mine", None)


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cache:
    """A cache for programs whose library is anything."""
    (tmp_path / "made.so").write_bytes(b"code")
    monkeypatch.setattr(cached_programs, "loaded", lambda file: print)
    return Cache(tmp_path / "kept")


def keep(cache: Cache, *plugins: Any, **settings: Any) -> None:
    """Keep the program that a run compiles."""
    with made(*plugins, **settings) as agent:
        agent.learn(4)
        ((program,),) = compiled(agent)._programs.values()
    built = Built(Strategy("eager"), print, cache.folder.parent / "made.so")
    assert cached_programs.add(cache, "a key", program, built) == ""


def found(cache: Cache, *plugins: Any, **settings: Any) -> int:
    """How many kept programs a run finds before its first update; looking changes no tensor."""
    counts = []
    with made(*plugins, **settings) as agent:
        update, flat = compiled(agent), agent.run.parameters.flat

        def look(key: str, batch: Any, optimise: Any) -> None:
            before, state = flat.clone(), copy.deepcopy(optimise.state_dict())
            programs = cached_programs.candidates(cache, "a key", update._update, batch, optimise)
            counts.append(len([*programs]))
            assert flat.equal(before) and str(optimise.state_dict()) == str(state)

        update._another = look
        agent.learn(4)
    return counts[0]


def test_another_programs_update_of_the_same_name_is_not_taken(
    tmp_path: Path, imported: Any, kept: Cache
) -> None:
    keep(kept, algorithm=imported(tmp_path / "one", 2.0))
    assert found(kept, algorithm=imported(tmp_path / "one", 2.0)) == 1
    assert found(kept, algorithm=imported(tmp_path / "other", 3.0)) == 0
    assert found(kept, algorithm=imported(tmp_path / "copy", 2.0)) == 1


def test_what_was_imported_before_its_file_was_edited_is_not_taken_for_the_new_text(
    tmp_path: Path, imported: Any, kept: Cache
) -> None:
    old = imported(tmp_path / "one", 2.0)
    (tmp_path / "one" / "mine.py").write_text(MINE.format(factor=3.0))
    keep(kept, algorithm=old)
    assert found(kept, algorithm=old) == 1
    assert found(kept, algorithm=imported(tmp_path / "one", 3.0)) == 0


def test_a_program_is_of_a_run_that_wraps_losses_or_of_one_that_does_not(kept: Cache) -> None:
    keep(kept, Halves())
    assert found(kept) == 0
    keep(kept)
    assert found(kept) == 1 and found(kept, Halves()) == 0


def again(cache: Cache, **changes: Any) -> None:
    """Keep the same program with another call plan."""
    entry, *_ = cache.find("a key")
    cache.add("a key", attrs.evolve(entry.call_plan, **changes), entry.library)


@pytest.mark.parametrize("others", [None, {"/nowhere/mine.py": "hash"}])
def test_a_program_whose_sources_are_others_is_removed(kept: Cache, others: Any) -> None:
    keep(kept)
    again(kept, sources=others)
    assert found(kept) == 1
    assert len([*kept.find("a key")]) == 1


def test_a_library_that_torch_cannot_load_is_removed(
    kept: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(file: Path) -> Any:
        raise RuntimeError("no such symbol")

    keep(kept)
    monkeypatch.setattr(cached_programs, "loaded", refuse)
    assert found(kept) == 0 and not [*kept.find("a key")]


def test_what_cannot_be_kept_says_why(tmp_path: Path) -> None:
    (tmp_path / "made.so").write_bytes(b"code")
    (tmp_path / "file").write_text("no folder")
    plan = SimpleNamespace(sources={}, to_json=lambda: "{}")
    in_no_file = SimpleNamespace(sources=None, to_json=lambda: "{}")
    built = Built(Strategy("eager"), print, tmp_path / "made.so")

    def kept(folder: str, call_plan: Any, built: Built) -> str:
        program: Any = SimpleNamespace(call_plan=call_plan)
        return add(Cache(tmp_path / folder), "a key", program, built)

    assert kept("cache", plan, attrs.evolve(built, library=None)) == "eager leaves no library"
    assert "in no file" in kept("cache", in_no_file, built)
    assert "file" in kept("file", plan, built)
    assert not (tmp_path / "cache").exists()
    assert kept("cache", plan, built) == ""
