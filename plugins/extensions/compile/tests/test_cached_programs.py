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
import torch
from compiled_runs import Halves, compiled, made

from rlk.hookspecs import hookimpl
from rlk_compile import cached_programs
from rlk_compile.backend import Built, Strategy
from rlk_compile.cache import Cache
from rlk_compile.cached_programs import _only_lacks_objects, add
from rlk_compile.conditions import Scope

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


class Quarters(Halves):
    """Wraps losses in another way."""

    @hookimpl
    def rlk_wrap_loss(self, run: Any, group: str) -> Any:
        halve = super().rlk_wrap_loss(run, group)
        return lambda loss_fn: halve(halve(loss_fn))


def test_a_program_with_wrapped_losses_is_found_before_the_first_update_wraps_them(
    kept: Cache,
) -> None:
    keep(kept, Halves())
    assert found(kept, Halves()) == 1
    assert found(kept, Quarters()) == 0
    assert found(kept) == 0
    keep(kept)
    assert found(kept) == 1 and found(kept, Halves()) == 1


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry for each time that looking for programs runs the update."""
    found: list[int] = []
    restored = cached_programs.restored

    def counted(fixed: Any) -> Any:
        found.append(1)
        return restored(fixed)

    monkeypatch.setattr(cached_programs, "restored", counted)
    return found


def again(cache: Cache, **changes: Any) -> None:
    """Keep the same program with another call plan."""
    entry, *_ = cache.find("a key")
    cache.add("a key", attrs.evolve(entry.call_plan, **changes), entry.library)


def test_the_update_is_run_once_at_most_and_only_where_a_program_lacks_nothing_else(
    tmp_path: Path, imported: Any, kept: Cache, runs: list[int]
) -> None:
    keep(kept)
    assert found(kept) == 1 and not runs, "nothing is missing"
    wrapped = Cache(tmp_path / "wrapped")
    keep(wrapped, Halves())
    again(wrapped, strategy="another")
    assert found(wrapped, Halves()) == 2 and len(runs) == 1
    runs.clear()
    for name in ("one", "other"):
        conditions = {f"L['optimise'].{name}": "builtins.int 1"}
        again(kept, conditions=next(iter(kept.find("a key"))).call_plan.conditions | conditions)
    runs.clear()
    assert found(kept) == 1 and len(runs) == 1, "neither exists after the update either"
    runs.clear()
    assert found(wrapped, Halves(), algorithm=imported(tmp_path / "one", 2.0)) == 0 and not runs


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


def holder(**attributes: Any) -> Any:
    return SimpleNamespace(scale=2.0, made={}, flat=torch.zeros(2), **attributes)


#: What the first update makes, in addition to what `holder` has.
MADE = {"made": {"loss": 1}, "rate": 0.5}


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ({}, True),
        (MADE, False),
        ({"rate": 0.5}, False),
        ({"scale": 3.0}, False),
        ({"flat": torch.zeros(3)}, False),
        ({"made": {"other": 1}}, False),
        ({"made": {"loss": 1}}, True),
    ],
)
def test_only_what_the_first_update_makes_may_be_missing(now: Any, expected: bool) -> None:
    places = [f"L['function'].{name}" for name in ("scale", "made", "flat", "rate")]
    first = SimpleNamespace(**{**vars(holder()), **MADE})
    conditions = Scope(first, None, None, {}).describe([*places, "hasattr(L['function'], 'rate')"])
    current = SimpleNamespace(**{**vars(holder()), **now})
    assert _only_lacks_objects(Scope(current, None, None, {}), conditions) == expected


def test_a_dict_that_has_some_of_the_keys_is_another_one() -> None:
    wanted = Scope({"a": 1, "b": 1}, None, None, {}).describe(["L['function']"])
    some = Scope({"a": 1}, None, None, {})
    assert not _only_lacks_objects(some, {**wanted, "L['function']['b']": "builtins.int 1"})


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
