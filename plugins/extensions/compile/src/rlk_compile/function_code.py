"""The Python code of functions and classes, which tells apart two of one name.

Two programs may each have a `make.<locals>.<lambda>` in their `__main__`, a copy of a project has
the modules of the first one, and a file may have been edited since it was imported. So a function
is described by the code that this process has, not by its name or its file.
"""

from __future__ import annotations

import functools
import hashlib
import sys
import types
from collections.abc import Iterator
from typing import Any

#: Packages whose code is covered by the versions of torch and Python.
KNOWN = {"torch", *sys.stdlib_module_names}
#: Code that attrs generates from the fields of a class: its `__hash__` is new in every process.
_OF_ATTRS = "<attrs generated"
#: Where a property, a class method or a static method keeps its functions.
_WITHIN = ("__func__", "fget", "fset", "fdel")


def code_of(value: Any) -> Iterator[types.CodeType]:
    """The code of `functions_of`.

    What a function finds in its closure and in globals has guards of its own.
    """
    return (function.__code__ for function in functions_of(value))


def with_inner(code: types.CodeType) -> Iterator[types.CodeType]:
    """A code object, and those of all functions that are defined inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from with_inner(constant)


def digest_of(value: Any) -> str:
    """A hash of the code of a function or class, without names of files and numbers of lines.

    It includes plain defaults of arguments, because those of a constructor have no guards. It is ""
    if the value has no code of its own.
    """
    digests = [
        _digest(function.__code__) + defaults_of(function) for function in functions_of(value)
    ]
    return _hashed("".join(digests)) if digests else ""


def functions_of(value: Any) -> Iterator[Any]:
    """The function itself, or all functions that a class defines or inherits.

    Left out are classes of torch and of Python, and what attrs generates.
    """
    if not isinstance(value, type):
        yield from _within(value)
        return
    for each in value.__mro__:
        if each.__module__.partition(".")[0] not in KNOWN:
            for part in vars(each).values():
                yield from _within(part)


def _within(value: Any) -> Iterator[Any]:
    """The function itself, or the functions of a property, a class method or a static method."""
    code = getattr(value, "__code__", None)
    if isinstance(code, types.CodeType):
        if not code.co_filename.startswith(_OF_ATTRS):
            yield value
    elif isinstance(value, (staticmethod, classmethod, property)):
        for name in _WITHIN:
            yield from _within(getattr(value, name, None))


def defaults_of(function: Any) -> str:
    """The defaults of a function's arguments; those of another kind than numbers by their class."""
    defaults = function.__defaults__, sorted((function.__kwdefaults__ or {}).items())
    return "" if defaults == (None, []) else _default(defaults)


def _default(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(_default, value))})"
    plain = value is None or isinstance(value, (bool, int, float, complex, str, bytes))
    return repr(value) if plain else type(value).__qualname__


@functools.cache
def _digest(code: types.CodeType) -> str:
    parts = [
        code.co_code,
        code.co_names,
        code.co_varnames,
        code.co_freevars,
        code.co_exceptiontable,
        (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags),
        _constant(code.co_consts),
    ]
    return _hashed(repr(parts))


def _constant(value: Any) -> str:
    """A constant in words that are the same in every process."""
    if isinstance(value, types.CodeType):
        return _digest(value)
    if isinstance(value, tuple):
        return f"({', '.join(map(_constant, value))})"
    if isinstance(value, frozenset):  # its order differs from process to process
        return f"frozenset {sorted(map(_constant, value))}"
    return repr(value)


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
