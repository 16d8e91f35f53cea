"""The sources of a call plan, and what happens to compiled updates on disk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch
from torch import fx

from rlk.records import Loss
from rlk.registry.kernel import Kernel
from rlk_compile.cache import LIMIT, Cache
from rlk_compile.call_plan import CallPlan
from rlk_compile.passes import KIND, ready
from rlk_compile.sources import Unwritten, hashed, sources, unchanged

CALL_PLAN = CallPlan(
    inputs=(("L['function'].flat", True), None),
    paths=(("extras", "noise"),),
    metrics={"loss": 0},
    td_error=None,
    stays=("L['function'].alpha",),
    conditions={"L['function'].tau": "builtins.float 0.005"},
    sources={"file.py": "hash"},
    strategy="inductor",
)


# ---- sources -------------------------------------------------------------------------------------


def test_sources_are_the_files_of_code_and_of_values_but_torchs_and_pythons_own() -> None:
    found = sources([hashed.__code__, os.path.join.__code__], [CallPlan, torch.nn.Linear, len])
    assert {Path(file).name for file in found} == {"sources.py", "call_plan.py"}
    assert unchanged(found)


def test_the_constructor_of_a_named_tuple_belongs_to_its_class() -> None:
    assert {Path(file).name for file in sources([], [Loss, Loss.__new__])} == {"records.py"}


def test_a_file_that_has_changed_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "algorithm.py"
    file.write_text("TAU = 0.5\n")
    found = {str(file): hashed(str(file))}
    assert unchanged(found)
    file.write_text("TAU = 0.25\n")
    assert not unchanged(found)
    file.unlink()
    assert not unchanged(found)


def test_code_in_no_file_is_kept_for_nobody() -> None:
    with pytest.raises(Unwritten):
        sources([compile("1", "<notebook>", "eval")], [])


# ---- the cache -----------------------------------------------------------------------------------


@pytest.fixture
def library(tmp_path: Path) -> Path:
    path = tmp_path / "made.so"
    path.write_bytes(b"code")
    path.with_suffix(".json").write_text("operators")
    return path


def test_what_was_added_is_found_by_its_key_alone(tmp_path: Path, library: Path) -> None:
    cache = Cache(tmp_path / "cache")
    cache.add("one", CALL_PLAN, library)
    cache.add("one", CALL_PLAN, library)  # as another process would
    (entry,) = Cache(tmp_path / "cache").find("one")
    assert entry.call_plan == CALL_PLAN and entry.library.read_bytes() == b"code"
    assert entry.library.with_suffix(".json").read_text() == "operators"
    assert not [*cache.find("two")]
    assert [place.name[0] for place in cache.folder.iterdir()] != ["."], "nothing half-made stays"


ENTRY = ["call_plan.json", "update.so", "update.json", "sha256"]


@pytest.mark.parametrize("name", ENTRY)
@pytest.mark.parametrize("found", [b"", b"\xff\xfe"])
def test_what_is_damaged_is_removed(tmp_path: Path, library: Path, name: str, found: bytes) -> None:
    cache = Cache(tmp_path / "cache")
    cache.add("one", CALL_PLAN, library)
    (place,) = cache.folder.iterdir()
    (place / name).write_bytes(found)
    assert not [*cache.find("one")] and not [*cache.folder.iterdir()]


@pytest.mark.parametrize("name", ENTRY)
def test_what_is_incomplete_is_removed_and_added_anew(
    tmp_path: Path, library: Path, name: str
) -> None:
    cache = Cache(tmp_path / "cache")
    cache.add("one", CALL_PLAN, library)
    (place,) = cache.folder.iterdir()
    (place / name).unlink()
    assert not [*cache.find("one")]
    cache.add("one", CALL_PLAN, library)
    assert len([*cache.find("one")]) == 1


def test_what_may_not_be_read_counts_as_missing(
    tmp_path: Path, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> bytes:
        raise PermissionError(path)

    cache = Cache(tmp_path / "cache")
    cache.add("one", CALL_PLAN, library)
    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert not [*cache.find("one")]


def test_those_used_longest_ago_go_first(tmp_path: Path, library: Path) -> None:
    cache = Cache(tmp_path / "cache")
    for number in range(LIMIT):
        cache.add(str(number), CALL_PLAN, library)
        (entry,) = cache.find(str(number))
        os.utime(entry.library.parent, (number + 1, number + 1))
    (entry,) = cache.find("0")
    cache.mark_used(entry)
    cache.add("new", CALL_PLAN, library)
    assert [len([*cache.find(key)]) for key in ("0", "1", "2", "new")] == [1, 0, 1, 1]


def test_a_cache_that_cannot_be_written_says_so(tmp_path: Path, library: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(OSError, match="cache"):
        Cache(tmp_path / "cache").add("one", CALL_PLAN, library)


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
