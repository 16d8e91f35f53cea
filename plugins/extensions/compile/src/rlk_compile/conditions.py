"""What a graph assumes about Python objects, recorded so that it can be checked again.

Dynamo records a guard for everything that a trace depended on: the value of a number, the class of
an object, the function behind a name, the shape of a tensor. Each guard has an expression that
finds the object (`L['function'].__self__.config.tau`), and the object found has a description; that
of a function or a class includes its code. A graph is valid as long as all descriptions are the
same, in this process or in another one.
"""

from __future__ import annotations

import builtins
import enum
import functools
import inspect
import sys
import types
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor

from rlk_compile.function_code import digest_of
from rlk_compile.leaves import kind

#: Expression -> the description of the object that it finds.
Conditions = dict[str, str]
_OF_TORCH = (torch.dtype, torch.device, torch.memory_format, torch.Size)
_SIMPLE = (bool, int, float, complex, str, bytes, enum.Enum, *_OF_TORCH)
_SEQUENCES = (tuple, list, set, frozenset, deque)
_DESCRIBED = (*_SIMPLE, Tensor, types.ModuleType, *_SEQUENCES, Mapping)
_IMPORTED, _BUILTINS = "__import_", "__builtins_dict__"


class Unknown(Exception):
    """An expression finds nothing."""


class Scope:
    """The scope of Dynamo's expressions: `L` are arguments, `G` are globals.

    Args:
        function, batch, optimise: the update and its arguments.
        around: globals of the function that Dynamo was given.
    """

    def __init__(self, function: Any, batch: Any, optimise: Any, around: dict[str, Any]) -> None:
        local = {"function": function, "batch": batch, "optimise": optimise}
        self._names = {"L": local, "G": _Globals(around), "torch": torch}

    def find(self, expression: str) -> Any:
        """The object that an expression finds.

        Raises:
            Unknown: if it finds no object.
        """
        try:
            return eval(_code(expression), self._names)
        except Exception as error:
            raise Unknown(f"{expression} finds nothing: {error}") from error

    def find_all(self, expressions: Iterable[str]) -> list[Any]:
        """The objects that expressions find.

        Raises:
            Unknown: if one finds no object.
        """
        return [self.find(expression) for expression in expressions]

    def describe(self, expressions: Iterable[str]) -> Conditions:
        """The descriptions of the objects that expressions find.

        Raises:
            Unknown: if one finds no object.
        """
        places = list(expressions)
        return dict(zip(places, descriptions(self.find_all(places)), strict=True))


class _Globals:
    """Names that Dynamo makes up: a module, the built-in names, or a global of the function."""

    def __init__(self, around: dict[str, Any]) -> None:
        self._around = around

    def __getitem__(self, name: str) -> Any:
        if name.startswith(_IMPORTED):
            return sys.modules[name.removeprefix(_IMPORTED).replace("_dot_", ".")]
        return vars(builtins) if name.startswith(_BUILTINS) else self._around[name]


@functools.cache
def _code(expression: str) -> types.CodeType:
    return compile(expression, "<condition>", "eval")


def descriptions(values: Iterable[Any]) -> list[str]:
    """A description of each object; all of them together tell which tensors share memory."""
    memories: dict[int, int] = {}
    found = []
    for value in values:
        text = described(value)
        if isinstance(value, Tensor):
            text = " ".join([text, *map(str, place_of(value, memories))])
        found.append(text)
    return found


def place_of(tensor: Tensor, memories: dict[int, int]) -> tuple[Any, ...]:
    """Whether it requires a gradient, the bytes and the number of its memory, and its offset there.

    Tensors that share memory must share it again, each at the same offset.

    Args:
        memories: the numbers of memories by their addresses; that of a new one is added.
    """
    memory = tensor.untyped_storage()
    number = memories.setdefault(memory.data_ptr(), len(memories))
    return tensor.requires_grad, memory.nbytes(), number, tensor.storage_offset()


def described(value: Any) -> str:
    """What a graph may depend on in this object itself, apart from the objects that it holds."""
    of = _named(type(value))
    if value is None or isinstance(value, _SIMPLE):
        return f"{of} {value!r}"
    if isinstance(value, Tensor):
        return " ".join([of, *map(str, kind(value))])
    if inspect.ismodule(value):
        return f"{of} {value.__name__}"
    if _has_name(value):
        return f"{of} {_named(value)}"
    if isinstance(value, _SEQUENCES):
        return f"{of} {_written(value)}" if _is_simple(value) else f"{of} of {len(value)}"
    if isinstance(value, Mapping):
        keys = [_written(key) if _is_simple(key) else type(key).__qualname__ for key in value]
        return f"{of} {', '.join(keys)}"
    return " ".join([of, *hidden(value)])


def has_own_form(value: Any) -> bool:
    """Whether the description of an object says more of it than its class and what it hides."""
    return value is None or isinstance(value, _DESCRIBED) or _has_name(value)


def hidden(value: Any) -> list[str]:
    """The attributes that hide one of the class: another function was put in its place."""
    own, names = type(value), getattr(value, "__dict__", ())
    return sorted(name for name in names if hasattr(own, name))


def _is_simple(value: Any) -> bool:
    """Whether it is a simple value, or a sequence of simple values."""
    if isinstance(value, _SEQUENCES):
        return all(map(_is_simple, value))
    return value is None or isinstance(value, _SIMPLE)


def _written(value: Any) -> str:
    """A simple value in words that are the same in every process: a set has no order of its own."""
    if not isinstance(value, _SEQUENCES):
        return repr(value)
    parts = [*map(_written, value)]
    ordered = sorted(parts) if isinstance(value, (set, frozenset)) else parts
    room = f" of {value.maxlen}" if isinstance(value, deque) else ""
    return f"{type(value).__qualname__}{room}({', '.join(ordered)})"


def _has_name(value: Any) -> bool:
    """Whether it is a class or a function: a descriptor that somebody wrote is none."""
    return isinstance(value, type) or (inspect.isroutine(value) and hasattr(value, "__qualname__"))


def _named(value: Any) -> str:
    """The name of a class or function and, unless it is torch's or Python's, a hash of its code."""
    return f"{value.__module__}.{value.__qualname__} {digest_of(value)}".rstrip()


def tells_apart(value: Any) -> bool:
    """Whether the description of a value distinguishes it from others of its class."""
    return _is_simple(value) or _has_name(value) or inspect.ismodule(value)
