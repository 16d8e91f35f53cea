"""Names of code in a file: no file may run code, so these must be passed again.

A name is never imported, not even to see whether it is code; these functions only look.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from rlk.registry.external import is_code_place

#: `package.Object`, and what can stand before the colon of `package.module:Object`.
_DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)+")
_MODULE = re.compile(r"[\w-]+(\.[\w-]+)*")
#: The drive of a path of Windows, whose colon is not that before an object: `C:/mine.py:Maze`.
_DRIVE = re.compile(r"^[A-Za-z]:(?=[/\\])")
#: Files of libraries and pickles.
_SUFFIXES = (".so", ".pyd", ".dll", ".dylib", ".pkl", ".pickle")
#: Modules of Python that open a browser or print when they are imported.
_DO_SOMETHING = ("antigravity", "this", "__main__")
#: What can stand behind that colon: an object, or an id of Gymnasium.
_OBJECT_OR_ID = re.compile(r"[^\W\d][\w./-]*")


def environment_names_code(value: Any) -> bool:
    """Whether a setting that is marked `environment` names code.

    A text is the name of an environment, which is code if it is a place, even one that is not here.
    A table has keywords of one, where a colon alone says nothing: see `code_in`.
    """
    return is_code_place(value) if isinstance(value, str) else code_in(value) is not None


def code_in(value: Any) -> str | None:
    """The first text in a keyword that names code which can be imported here, or a Python file.

    Some environments import what a keyword names (`vehicle="highway_env.vehicle.Car"`), and
    Gymnasium imports the module of `module:Id-v0`.
    """
    return next(filter(_names_code, texts_in(value)), None)


def _names_code(text: str) -> bool:
    module, colon, named = _DRIVE.sub("", text).partition(":")
    if text.endswith(_SUFFIXES) or module.endswith(".py"):
        return True
    if (_MODULE if colon else _DOTTED).fullmatch(module) is None:
        return False
    package = module.partition(".")[0]
    # Gymnasium imports a module before it looks at what is behind the colon. Texts begin like
    # packages of Python, and importing these does nothing: `http://…`, `time: 3`.
    is_harmless = module in sys.stdlib_module_names and module not in _DO_SOMETHING
    if colon and is_harmless and not _OBJECT_OR_ID.fullmatch(named):
        return False
    try:
        return importlib.util.find_spec(package) is not None  # this imports nothing
    except (ImportError, ValueError):
        return True


def texts_in(value: Any) -> Iterator[str]:
    """Every text in a setting, and in its lists and tables."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (Mapping, list, tuple)):
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from texts_in(one)
