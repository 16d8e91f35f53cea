"""The sources of a call plan, and what happens to compiled updates on disk."""

from __future__ import annotations

import os
import sys
import time
import types
from pathlib import Path

import attrs
import pytest
import torch
from torch import fx

import rlk_compile.sources
from rlk.records import Loss
from rlk.registry.kernel import Kernel
from rlk_compile.call_plan import CallPlan
from rlk_compile.kept.cache import LIMIT, Cache, _used, usable_cache
from rlk_compile.passes import KIND, ready
from rlk_compile.sources import Unwritten, _known, hashed, sources, unchanged

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


def test_a_class_of_a_module_in_no_file_is_kept_for_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    made = types.ModuleType("made_up")
    exec("class Mine: pass", vars(made))
    monkeypatch.setitem(sys.modules, "made_up", made)
    for value in (made.Mine, made.Mine(), made):
        with pytest.raises(Unwritten, match="<made_up> is not a file"):
            sources([], [value])


def test_packages_that_are_installed_are_not_pythons_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rlk_compile.sources, "_FOLDERS", ("/torch", "/python"))
    monkeypatch.setattr(rlk_compile.sources, "_INSTALLED", ("/python/site-packages",))
    files = (
        "/torch/a.py",
        "/python/os.py",
        "<string>",
        "/python/site-packages/mine.py",
        "/mine.py",
    )
    assert [_known(file) for file in files] == [True, True, True, False, False]


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
    assert len([*cache.folder.iterdir()]) == 1, "nothing half-made stays"


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


def test_several_programs_of_one_key_are_found_the_most_recently_used_first(
    tmp_path: Path, library: Path
) -> None:
    cache = Cache(tmp_path / "cache")
    names = [f"strategy {number}" for number in range(20)]
    for number, name in enumerate(names):
        cache.add("one", attrs.evolve(CALL_PLAN, strategy=name), library)
        for entry in cache.find("one"):
            if entry.call_plan.strategy == name:
                os.utime(entry.library.parent, (number + 1, number + 1))
    found = [*cache.find("one")]
    assert [entry.call_plan.strategy for entry in found] == names[::-1]
    cache.mark_used(found[-1])
    assert next(iter(cache.find("one"))).call_plan.strategy == names[0]
    cache.remove(found[-1])
    assert len([*cache.find("one")]) == 19


def test_what_another_process_has_removed_is_no_error(tmp_path: Path, library: Path) -> None:
    cache = Cache(tmp_path / "cache")
    cache.add("one", CALL_PLAN, library)
    (entry,) = cache.find("one")
    for _ in range(2):
        cache.remove(entry)
    cache.mark_used(entry)
    assert _used(entry.library.parent) == 0.0 and not [*cache.folder.iterdir()]


def test_only_the_owner_may_access_what_is_kept(tmp_path: Path, library: Path) -> None:
    cache = Cache(tmp_path / "cache")
    cache.add("one", CALL_PLAN, library)
    for place in (cache.folder, *cache.folder.iterdir()):
        assert place.stat().st_mode & 0o077 == 0


def test_a_folder_that_another_user_may_write_to_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = tmp_path / "rlk" / "compile"
    folder.mkdir(parents=True)
    for mode in (0o700, 0o755):
        folder.chmod(mode)
        cache, why_not = usable_cache()
        assert cache is not None and cache.folder == folder and why_not == ""
    for mode in (0o770, 0o702):
        folder.chmod(mode)
        why_not = f"other users may write to {folder}; empty it, and type: chmod go-w {folder}"
        assert usable_cache() == (None, why_not)
    folder.chmod(0o700)
    monkeypatch.setattr(os, "getuid", lambda: folder.stat().st_uid + 1)
    cache, why_not = usable_cache()
    assert cache is None and why_not.startswith(f"{folder} belongs to another user")


def test_what_a_killed_process_left_half_copied_is_removed_an_hour_later(
    tmp_path: Path, library: Path
) -> None:
    cache = Cache(tmp_path / "cache")
    for name, hours in ((".killed", 1.1), (".copies", 0.9)):
        (cache.folder / name).mkdir(parents=True)
        (cache.folder / name / "update.so").touch()
        then = time.time() - 3600 * hours
        os.utime(cache.folder / name, (then, then))
    cache.add("one", CALL_PLAN, library)
    assert [place.name for place in cache.folder.glob(".*")] == [".copies"]
    assert len([*cache.find("one")]) == 1


def test_an_entry_is_complete_when_it_appears(
    tmp_path: Path, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    appeared: list[list[str]] = []
    rename = Path.rename

    def recorded(self: Path, target: Path) -> Path:
        appeared.append(sorted(file.name for file in self.iterdir()))
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", recorded)
    Cache(tmp_path / "cache").add("one", CALL_PLAN, library)
    assert appeared == [sorted(ENTRY)]


def test_an_entry_that_cannot_appear_is_an_error_and_leaves_nothing(
    tmp_path: Path, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Path, target: Path) -> Path:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "rename", refuse)
    cache = Cache(tmp_path / "cache")
    with pytest.raises(OSError, match="disk full"):
        cache.add("one", CALL_PLAN, library)
    assert not [*cache.folder.iterdir()]


def test_a_library_without_a_list_of_operators_is_kept_without_one(
    tmp_path: Path, library: Path
) -> None:
    library.with_suffix(".json").unlink()
    cache = Cache(tmp_path / "cache")
    cache.add("one", CALL_PLAN, library)
    (entry,) = cache.find("one")
    assert not entry.library.with_suffix(".json").exists()


def test_bytes_that_moved_from_one_file_to_the_next_are_damage(
    tmp_path: Path, library: Path
) -> None:
    cache = Cache(tmp_path / "cache")
    cache.add("one", CALL_PLAN, library)
    (entry,) = cache.find("one")
    operators = entry.library.with_suffix(".json")
    entry.library.write_bytes(entry.library.read_bytes() + operators.read_bytes()[:1])
    operators.write_bytes(operators.read_bytes()[1:])
    assert not [*cache.find("one")]


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
