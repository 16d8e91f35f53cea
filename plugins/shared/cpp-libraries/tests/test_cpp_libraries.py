"""Sources that are built, found again, or cannot be built."""

from __future__ import annotations

import ctypes
import os
import stat
from pathlib import Path

import pytest

from rlk_cpp_libraries import Unbuilt, build, built, compiler, load

needs_one = pytest.mark.skipif(compiler() is None, reason="wants a C++ compiler")
#: Lines of a compiler whose library is the text of its own command line.
MADE = ("for last; do :; done", 'echo "$*" > "$last"')


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where libraries are kept here."""
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path / "kept"))
    return tmp_path / "kept"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "rlk_counting"
    folder.mkdir()
    (folder / "count.cpp").write_text(
        "template <class T> concept Known = true;  // which C++20 has first\n"
        'extern "C" int rlk_next(int i) { return i + STEP; }\n'
    )
    return folder / "count.cpp"


def calls(monkeypatch: pytest.MonkeyPatch, folder: Path, *lines: str) -> None:
    """Let the compiler be a script of these lines."""
    monkeypatch.setenv("CXX", str(written(folder / "own++", *lines)))


def written(script: Path, *lines: str) -> Path:
    """A script that can be executed."""
    script.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return script


@pytest.mark.parametrize(("cache", "place"), [("cache", "cache"), ("", "home/.cache")])
def test_libraries_are_in_the_cache_of_the_user_unless_torch_is_told_another(
    cache: str, place: str, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls(monkeypatch, tmp_path, *MADE)
    monkeypatch.delenv("TORCH_EXTENSIONS_DIR")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / cache) if cache else "")
    assert built(source).parent == tmp_path / place / "torch_extensions" / "rlk_counting"


@needs_one
def test_a_source_is_built_once_for_all_that_it_is_made_of(source: Path, kept: Path) -> None:
    functions = load(source, "-O1", "-DSTEP=2")
    assert functions.rlk_next(3) == 5
    path = built(source, "-O1", "-DSTEP=2")
    made = path.stat().st_mtime_ns
    assert path.parent == kept / "rlk_counting"
    assert {*path.parent.iterdir()} == {path, path.with_suffix(".sha256")}
    assert built(source, "-O1", "-DSTEP=2").stat().st_mtime_ns == made
    other = built(source, "-O1", "-DSTEP=7", made_of="another header")
    assert other != path and ctypes.CDLL(str(other)).rlk_next(3) == 10


@needs_one
def test_where_headers_are_distinguishes_no_library(source: Path, tmp_path: Path) -> None:
    for environment in ("one", "other"):
        (tmp_path / environment).mkdir()
        (tmp_path / environment / "step.h").write_text("#define STEP 2\n")
    source.write_text('#include "step.h"\n' + source.read_text())
    path = built(source, places=[f"-I{tmp_path / 'one'}"])
    made = path.stat().st_mtime_ns
    again = built(source, places=[f"-I{tmp_path / 'other'}"])
    assert again == path and path.stat().st_mtime_ns == made


@needs_one
@pytest.mark.parametrize("part", [0.0, 0.2])
def test_a_library_that_is_cut_off_is_built_again(source: Path, part: float) -> None:
    path = built(source, "-DSTEP=3")
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * part)])
    assert load(source, "-DSTEP=3").rlk_next(3) == 6
    path.with_suffix(".sha256").unlink()
    assert built(source, "-DSTEP=3").read_bytes() == whole


def test_no_library_is_taken_from_a_folder_that_another_user_may_write_to(
    source: Path, kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls(monkeypatch, tmp_path, *MADE)
    built(source)
    folder = kept / "rlk_counting"
    for mode in (0o770, 0o702):
        folder.chmod(mode)
        with pytest.raises(Unbuilt, match=f"^other users may write to {folder}; .* chmod go-w"):
            built(source)
    folder.chmod(0o755)
    assert built(source).exists()
    monkeypatch.setattr(os, "getuid", lambda: folder.stat().st_uid + 1)
    with pytest.raises(Unbuilt, match="another user, so set TORCH_EXTENSIONS_DIR to a folder"):
        built(source)
    monkeypatch.delenv("TORCH_EXTENSIONS_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "torch_extensions" / "rlk_counting").mkdir(parents=True)
    with pytest.raises(Unbuilt, match="another user, so set XDG_CACHE_HOME to a folder"):
        built(source)


def test_a_library_that_another_user_may_write_to_is_built_again(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls(monkeypatch, tmp_path, *MADE)
    path = built(source)
    path.write_text("planted")
    path.with_suffix(".sha256").write_bytes(build._digest(path))
    assert built(source).read_text() == "planted", "a hash alone protects from nobody"
    path.chmod(0o777)
    assert built(source).read_text() != "planted" and path.stat().st_mode & 0o022 == 0


def test_what_a_user_builds_whose_files_their_group_may_write_to_is_taken_again(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls(monkeypatch, tmp_path, *MADE, 'chmod 775 "$last"')
    before = os.umask(0o002)
    try:
        path = built(source)
        made = path.stat().st_mtime_ns
        assert built(source).stat().st_mtime_ns == made
    finally:
        os.umask(before)


def test_for_a_user_without_a_home_nothing_is_built_where_no_folder_is_named(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(uid: int) -> None:
        raise KeyError(uid)

    calls(monkeypatch, tmp_path, *MADE)
    monkeypatch.setattr("pwd.getpwuid", unknown)
    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert built(source).exists(), "TORCH_EXTENSIONS_DIR is set"
    monkeypatch.delenv("TORCH_EXTENSIONS_DIR")
    with pytest.raises(Unbuilt, match="home directory"):
        built(source)


def test_what_an_option_refers_to_is_known_where_it_stands_on_the_command_line(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls(monkeypatch, tmp_path, *MADE)
    words = built(source, "-O3", "-lown", places=["-Lhere"]).read_text().split()
    linked = [words.index(word) for word in (str(source), "-Lhere", "-lown", "-o")]
    assert linked == sorted(linked) and words.index("-o") == len(words) - 2
    assert {"-shared", "-fPIC", "-O3"} <= {*words}


def test_it_is_built_where_it_is_kept_which_may_be_another_disk(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls(monkeypatch, tmp_path, *MADE)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    assert built(source).exists()


def test_another_source_compiler_option_or_header_makes_another_library(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls(monkeypatch, tmp_path, *MADE)
    paths = [built(source), built(source, "-O2"), built(source, made_of="2.13")]
    source.write_text("int another;\n")
    paths.append(built(source))
    monkeypatch.setattr(build, "_ALWAYS", (*build._ALWAYS, "-g"))
    paths.append(built(source))
    (tmp_path / "own++").rename(tmp_path / "other++")
    monkeypatch.setenv("CXX", str(tmp_path / "other++"))
    paths.append(built(source))
    assert len({*paths}) == len(paths) and all(path.exists() for path in paths)


def test_what_the_compiler_says_is_told_and_nothing_is_left(
    source: Path, tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where, why = "In file included from count.cpp:1:", "count.h:9: error: no such thing"
    calls(monkeypatch, tmp_path, f"echo '{where}' >&2", f"echo '{why}' >&2", "exit 1")
    with pytest.raises(Unbuilt, match=rf"own\+\+ does not build count.cpp: {why}$"):
        built(source)
    calls(monkeypatch, tmp_path, "echo 'no space left' >&2", "echo 'it stopped' >&2", "exit 1")
    with pytest.raises(Unbuilt, match=r"count\.cpp: no space left$"):
        built(source)
    calls(monkeypatch, tmp_path, r"printf 'error: f\201r\n' >&2", "exit 1")  # not UTF-8
    with pytest.raises(Unbuilt, match=r"count\.cpp: error: f.r$"):
        built(source)
    calls(monkeypatch, tmp_path, "exit 3")
    with pytest.raises(Unbuilt, match="it ended with 3"):
        built(source)
    assert [*(kept / "rlk_counting").iterdir()] == []


def test_a_library_that_cannot_be_loaded_or_kept_is_reported(
    source: Path, tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls(monkeypatch, tmp_path, "for last; do :; done", 'echo nothing > "$last"')
    with pytest.raises(Unbuilt, match=r"count-.*\.so cannot be loaded"):
        load(source)
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(source))
    with pytest.raises(Unbuilt, match=r"count.cpp cannot be built: .*Not a directory"):
        built(source)


def test_a_missing_compiler_is_reported(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "nowhere++")
    assert compiler() is None
    with pytest.raises(Unbuilt, match="no C\\+\\+ compiler was found"):
        built(source)


def test_the_first_compiler_that_is_found_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = []
    for name in ("c++", "clang++", "g++"):
        written(tmp_path / name)
        found.append(compiler())
    assert found == ["c++", "clang++", "g++"]
