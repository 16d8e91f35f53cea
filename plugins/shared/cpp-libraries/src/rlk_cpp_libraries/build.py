"""Shared libraries from C++ sources: compiled at their first use, and cached.

This does not use `torch.utils.cpp_extension`, which requires setuptools, adds 0.3 s to every start,
and waits forever for the lock of a killed process.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rlk.files import cache_folder
from rlk_cpp_libraries.trust import OTHERS_WRITE, why_not_trusted

COMPILERS = ("g++", "clang++", "c++")
#: The file beside a library that holds its hash.
_HASH = ".sha256"
_ALWAYS = ("-std=c++20", "-shared", "-fPIC")


class Unbuilt(Exception):
    """The library of a source could not be built; the message says why, in one line."""


def compiler() -> str | None:
    """The C++ compiler that `CXX` names, or the first one found."""
    named = os.environ.get("CXX")
    return next((name for name in ([named] if named else COMPILERS) if shutil.which(name)), None)


def load(source: Path, *options: str) -> ctypes.CDLL:
    """The C functions that a source exports, for a program that calls them directly.

    Raises:
        Unbuilt: as `built`, or if the library cannot be loaded.
    """
    path = built(source, *options)
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise Unbuilt(f"{path} cannot be loaded: {error}") from error


def built(source: Path, *options: str, places: Sequence[str] = (), made_of: str = "") -> Path:
    """The path of a source's library, which is built now unless it exists and is undamaged.

    It is in the folder where torch keeps extensions; the file name contains a hash of its inputs.
    Another machine may use the same folder, so do not pass `-march=native`. Nobody but this user
    may write to that folder, nor to the library.

    Args:
        source: one file.
        options: for the compiler, including those that follow the source on its command line.
        places: options before these that only say where files are (`-I…`, `-L…`). They distinguish
            no library: another virtual environment takes the same.
        made_of: further inputs that distinguish libraries (the version of a header).

    Raises:
        Unbuilt: with the compiler's message, if there is no compiler, or if others may put code
            into the folder.
    """
    found = compiler()
    if found is None:
        raise Unbuilt("no C++ compiler was found")
    try:
        path = _place(source, found, *options, made_of)
        if why_not := why_not_trusted(path.parent, _variable()):
            raise Unbuilt(why_not)
        if not _is_whole(path):
            _build(found, source, (*places, *options), path)
    except (OSError, RuntimeError) as error:  # RuntimeError: a user without a home
        raise Unbuilt(f"{source.name} cannot be built: {error}") from error
    return path


def _variable() -> str:
    """The environment variable that chooses where libraries are kept."""
    torchs = "TORCH_EXTENSIONS_DIR"
    return torchs if os.environ.get(torchs) else "XDG_CACHE_HOME"


def _place(source: Path, *made_of: str) -> Path:
    known = (source.read_text(encoding="utf-8"), *_ALWAYS, *made_of)
    digest = hashlib.sha256("\n".join(known).encode()).hexdigest()[:16]
    told = os.environ.get("TORCH_EXTENSIONS_DIR")
    root = Path(told) if told else cache_folder() / "torch_extensions"
    return root / source.parent.name / f"{source.stem}-{digest}.so"


def _is_whole(path: Path) -> bool:
    """Whether the library is as this user built it; loading one cut off can end the process."""
    try:
        is_as_built = path.with_suffix(_HASH).read_bytes() == _digest(path)
        return is_as_built and not why_not_trusted(path, _variable())
    except OSError:
        return False


def _digest(path: Path) -> bytes:
    return hashlib.sha256(path.read_bytes()).hexdigest().encode()


def _build(compiler: str, source: Path, options: Sequence[str], path: Path) -> None:
    """Build to a temporary file first: other processes may look for it; this one may be killed."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        made = Path(folder) / path.name
        command = [compiler, *_ALWAYS, str(source), *options, "-o", str(made)]
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False
        )
        if done.returncode:
            lines = done.stderr.strip().splitlines() or [f"it ended with {done.returncode}"]
            complaint = next((line for line in lines if "error" in line), lines[0])
            raise Unbuilt(f"{compiler} does not build {source.name}: {complaint}")
        made.chmod(made.stat().st_mode & ~OTHERS_WRITE)  # which the umask may have allowed
        beside = made.with_suffix(_HASH)
        beside.write_bytes(_digest(made))
        made.replace(path)
        beside.replace(path.with_suffix(_HASH))
