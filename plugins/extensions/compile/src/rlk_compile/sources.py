"""The source files that a graph depends on, to detect that one of them has changed."""

from __future__ import annotations

import hashlib
import inspect
import sys
import sysconfig
import types
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch

from rlk_compile.function_code import KNOWN, code_of, with_inner

#: File -> the hash of its text.
Sources = dict[str, str]
_FOLDERS = str(Path(torch.__file__).parent), sysconfig.get_path("stdlib")
_INSTALLED = sysconfig.get_path("purelib"), sysconfig.get_path("platlib")
#: Prefixes of file names of generated code (dataclasses, attrs) and of Python's frozen modules.
_MADE = ("<string>", "<attrs generated", "<frozen")
#: The prefix of the module that the constructor of a named tuple says it is from.
_NAMED_TUPLE = "namedtuple_"
#: This package, whose files are part of the key.
_OWN = str(Path(__file__).parent)


class Unwritten(Exception):
    """Code is in no file, or is reached by nothing that is compared."""


def sources(code: Iterable[types.CodeType], values: Iterable[Any]) -> Sources:
    """The files of this code and of the modules of these values, without torch's and Python's own.

    Args:
        code: that was traced through. values: all that a graph depends on.

    Raises:
        Unwritten: if code is not in a file, or belongs to none of the values, their classes, or
            functions of these classes: their descriptions would not show that it is another.
    """
    values = list(values)
    files = _compared([each for each in code if not _known(each.co_filename)], values)
    for value in values:
        owner = value if inspect.ismodule(value) or hasattr(value, "__qualname__") else type(value)
        name = owner.__name__ if inspect.ismodule(owner) else getattr(owner, "__module__", None)
        if name and name.partition(".")[0] not in KNOWN and not name.startswith(_NAMED_TUPLE):
            files.add(getattr(sys.modules.get(name), "__file__", None) or f"<{name}>")
    return {file: hashed(file) for file in sorted(files)}


def _compared(code: Iterable[types.CodeType], values: Iterable[Any]) -> set[str]:
    """The files of code, all of which the descriptions of values must include."""
    described = {
        inner
        for value in values
        for owner in (value, type(value))
        for each in code_of(owner)
        for inner in with_inner(each)
    }
    files = set()
    for each in code:
        if each not in described and not each.co_filename.startswith(_OWN):
            raise Unwritten(f"{each.co_qualname} of {each.co_filename} is reached by no guard")
        files.add(each.co_filename)
    return files


def unchanged(found: Sources) -> bool:
    """Whether all of these files are unchanged."""
    try:
        return all(hashed(file) == text for file, text in found.items())
    except Unwritten:
        return False


def hashed(file: str) -> str:
    """The hash of a file's text.

    Raises:
        Unwritten: if the file cannot be read.
    """
    try:
        return hashlib.sha256(Path(file).read_bytes()).hexdigest()
    except OSError as error:
        raise Unwritten(f"{file} is not a file: {error}") from error


def _known(file: str) -> bool:
    if file.startswith((*_MADE, _FOLDERS[0])):
        return True
    return file.startswith(_FOLDERS[1]) and not file.startswith(_INSTALLED)
