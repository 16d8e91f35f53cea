"""The conditions of a recipe, and what happens to compiled updates on disk."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import fx

from rlk.records import Loss
from rlk.registry.kernel import Kernel
from rlk_compile import sources as source_files
from rlk_compile.conditions import Scope, Unknown, described, tells_apart
from rlk_compile.passes import KIND, ready
from rlk_compile.recipe import Recipe
from rlk_compile.sources import Unwritten, hashed, sources, unchanged
from rlk_compile.store import LIMIT, Store

RECIPE = Recipe(
    inputs=(("L['function'].flat", True), None),
    paths=(("extras", "noise"),),
    kinds=("a kind",),
    metrics={"loss": 0},
    td_error=None,
    stays=("L['function'].alpha",),
    conditions={"L['function'].tau": "builtins.float 0.005"},
    sources={"file.py": "hash"},
    way="inductor",
)


# ---- conditions ----------------------------------------------------------------------------------


class Holder:
    """Something that an update may read."""

    tau = 0.5

    def __init__(self) -> None:
        memory = torch.zeros(8)
        self.head, self.tail = memory[:4], memory[4:]


def scope_of(holder: Any) -> Scope:
    return Scope(holder, None, None, {"around": 7})


@pytest.mark.parametrize(
    ("value", "other"),
    [(0.5, 0.25), (1, True), ("a", "b"), (None, 0), ((1, 2), (1, 3)), ({"a": 1}, {"b": 1}),
     (torch.zeros(2), torch.zeros(3)), (torch.float32, torch.float64), (len, max), (list, dict),
     (torch.channels_last, torch.preserve_format), (os, torch), ([object()], [object(), object()])],
)  # fmt: skip
def test_different_values_have_different_descriptions(value: Any, other: Any) -> None:
    assert described(value) == described(value) != described(other)


def test_a_value_that_is_compared_as_a_whole_must_have_a_description_of_its_own() -> None:
    assert all(tells_apart(value) for value in (0.5, None, (1, 2), torch.channels_last, len, os))
    assert not any(tells_apart(value) for value in (torch.zeros(2), Holder(), {"a": 1}))


def test_an_object_is_described_by_its_class_and_what_it_hides_of_it() -> None:
    plain, changed = Holder(), Holder()
    assert described(plain) == described(Holder()) and not tells_apart(plain)
    changed.tau = 0.25
    assert described(changed) == described(plain) + " tau"


def test_expressions_find_what_dynamo_means_by_them() -> None:
    scope = scope_of(Holder())
    assert scope.find("L['function'].tau") == 0.5
    assert scope.find("G['__import_os_dot_path'].join") is os.path.join
    assert scope.find("G['__builtins_dict___0']['len']") is len
    assert scope.find("G['around']") == 7
    with pytest.raises(Unknown, match="missing"):
        scope.find("L['function'].missing")


def test_tensors_that_share_memory_must_share_it_again() -> None:
    places = ["L['function'].head", "L['function'].tail"]
    holder = Holder()
    before = scope_of(holder).describe(places)
    assert before == scope_of(Holder()).describe(places), "another memory of the same kind"
    holder.tail = holder.tail.clone()
    assert before != scope_of(holder).describe(places)


# ---- sources -------------------------------------------------------------------------------------


def test_sources_are_the_files_of_code_and_of_values_but_torchs_and_pythons_own() -> None:
    found = sources([hashed.__code__, os.path.join.__code__], [Recipe, torch.nn.Linear, len])
    assert {Path(file).name for file in found} == {"sources.py", "recipe.py"}
    assert unchanged(found)


def test_the_constructor_of_a_named_tuple_belongs_to_its_class() -> None:
    assert {Path(file).name for file in sources([], [Loss, Loss.__new__])} == {"records.py"}


def test_a_file_that_has_changed_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "algorithm.py"
    file.write_text("TAU = 0.5\n")
    os.utime(file, (1.0, 1.0))
    found = {str(file): hashed(str(file))}
    assert unchanged(found)
    file.write_text("TAU = 0.25\n")
    os.utime(file, (1.0, 1.0))
    assert not unchanged(found)
    os.utime(file, (source_files._STARTED + 60,) * 2)
    with pytest.raises(Unwritten, match="since this process started"):
        hashed(str(file))
    file.unlink()
    assert not unchanged(found)


def test_code_in_no_file_is_kept_for_nobody() -> None:
    with pytest.raises(Unwritten):
        sources([compile("1", "<notebook>", "eval")], [])


# ---- the store -----------------------------------------------------------------------------------


@pytest.fixture
def library(tmp_path: Path) -> Path:
    path = tmp_path / "made.so"
    path.write_bytes(b"code")
    path.with_suffix(".json").write_text("operators")
    return path


def test_what_was_kept_is_found_by_its_key_alone(tmp_path: Path, library: Path) -> None:
    store = Store(tmp_path / "store")
    store.keep("one", RECIPE, library)
    store.keep("one", RECIPE, library)  # as another process would
    (kept,) = Store(tmp_path / "store").find("one")
    assert kept.recipe == RECIPE and kept.library.read_bytes() == b"code"
    assert kept.library.with_suffix(".json").read_text() == "operators"
    assert not [*store.find("two")]
    assert [place.name[0] for place in store.folder.iterdir()] != ["."], "nothing half-made stays"


ENTRY = ["recipe.json", "update.so", "update.json", "sha256"]


@pytest.mark.parametrize("name", ENTRY)
@pytest.mark.parametrize("found", [b"", b"\xff\xfe"])
def test_what_is_damaged_is_removed(tmp_path: Path, library: Path, name: str, found: bytes) -> None:
    store = Store(tmp_path / "store")
    store.keep("one", RECIPE, library)
    (place,) = store.folder.iterdir()
    (place / name).write_bytes(found)
    assert not [*store.find("one")] and not [*store.folder.iterdir()]


@pytest.mark.parametrize("name", ENTRY)
def test_what_is_incomplete_is_removed_and_kept_anew(
    tmp_path: Path, library: Path, name: str
) -> None:
    store = Store(tmp_path / "store")
    store.keep("one", RECIPE, library)
    (place,) = store.folder.iterdir()
    (place / name).unlink()
    assert not [*store.find("one")]
    store.keep("one", RECIPE, library)
    assert len([*store.find("one")]) == 1


def test_what_may_not_be_read_counts_as_missing(
    tmp_path: Path, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> bytes:
        raise PermissionError(path)

    store = Store(tmp_path / "store")
    store.keep("one", RECIPE, library)
    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert not [*store.find("one")]


def test_those_used_longest_ago_go_first(tmp_path: Path, library: Path) -> None:
    store = Store(tmp_path / "store")
    for number in range(LIMIT):
        store.keep(str(number), RECIPE, library)
        (kept,) = store.find(str(number))
        os.utime(kept.library.parent, (number + 1, number + 1))
    (kept,) = store.find("0")
    store.used(kept)
    store.keep("new", RECIPE, library)
    assert [len([*store.find(key)]) for key in ("0", "1", "2", "new")] == [1, 0, 1, 1]


def test_a_store_that_cannot_be_written_says_so(tmp_path: Path, library: Path) -> None:
    (tmp_path / "store").write_text("a file")
    with pytest.raises(OSError, match="store"):
        Store(tmp_path / "store").keep("one", RECIPE, library)


# ---- passes --------------------------------------------------------------------------------------


class Renames:
    """A pass as a third party would write it."""

    name, identity, wanted = "renames", "1", "cpu"

    def applies(self, device: str) -> bool:
        return device == self.wanted

    def prepare(self) -> None:
        return None

    def __call__(self, graph: fx.Graph) -> None:
        raise AssertionError("nothing is compiled here")


class Breaks(Renames):
    name = "breaks"

    def prepare(self) -> None:
        raise RuntimeError("no such compiler")


def kernel_with(*passes: type) -> Kernel:
    kernel = Kernel(discover=False)
    for each in passes:
        kernel.registries.add_kind(KIND).register(each.name, each)
    return kernel


def test_passes_come_from_the_registry_and_a_broken_one_is_a_reason() -> None:
    kernel = kernel_with(Renames, Breaks)
    found, why_not = ready(None, "cpu", kernel)
    assert [each.name for each in found] == ["renames"]
    assert why_not == "breaks: no such compiler"
    assert ready(["renames"], "cuda", kernel) == ([], "")
    assert ready([], "cpu", kernel) == ([], "")
    assert ready(None, "cpu", Kernel(discover=False)) == ([], "")
