"""The source files that a graph depends on, to detect that one of them has changed."""

from __future__ import annotations

import hashlib
import inspect
import sys
import sysconfig
import time
import types
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch

#: File -> the hash of its text.
Sources = dict[str, str]
#: Packages whose files are covered by the versions of torch and Python.
_KNOWN = {"torch", *sys.stdlib_module_names}
_FOLDERS = str(Path(torch.__file__).parent), sysconfig.get_path("stdlib")
_INSTALLED = sysconfig.get_path("purelib"), sysconfig.get_path("platlib")
#: Prefixes of file names of generated code (dataclasses, attrs) and of Python's frozen modules.
_MADE = ("<string>", "<attrs generated", "<frozen")
#: The prefix of the module that the constructor of a named tuple says it is from.
_NAMED_TUPLE = "namedtuple_"
_STARTED = time.time()


class Unwritten(Exception):
    """Code is in no file, or its file has changed since."""


def sources(code: Iterable[types.CodeType], values: Iterable[Any]) -> Sources:
    """The files of this code and of the modules of these values, without torch's and Python's own.

    Raises:
        Unwritten: if code is not in a file, or a file has changed since this process started.
    """
    files = {each.co_filename for each in code}
    files = {file for file in files if not _known(file)}
    for value in values:
        owner = value if inspect.ismodule(value) or hasattr(value, "__qualname__") else type(value)
        name = owner.__name__ if inspect.ismodule(owner) else getattr(owner, "__module__", None)
        if name and name.partition(".")[0] not in _KNOWN and not name.startswith(_NAMED_TUPLE):
            files.add(getattr(sys.modules.get(name), "__file__", None) or f"<{name}>")
    return {file: hashed(file) for file in sorted(files)}


def unchanged(found: Sources) -> bool:
    """Whether all of these files are unchanged."""
    try:
        return all(hashed(file) == text for file, text in found.items())
    except Unwritten:
        return False


def hashed(file: str) -> str:
    """The hash of a file's text.

    Raises:
        Unwritten: if the file does not exist, or has changed since this process started, because
            the imported code may differ from it.
    """
    try:
        if Path(file).stat().st_mtime > _STARTED:
            raise Unwritten(f"{file} has changed since this process started")
        return hashlib.sha256(Path(file).read_bytes()).hexdigest()
    except OSError as error:
        raise Unwritten(f"{file} is not a file: {error}") from error


def _known(file: str) -> bool:
    if file.startswith((*_MADE, _FOLDERS[0])):
        return True
    return file.startswith(_FOLDERS[1]) and not file.startswith(_INSTALLED)
