"""Objects as bytes for another process, including code that a script or notebook defines.

cloudpickle sends such code by value, since its version 3.1.3 without the name of its file, so the
traceback of a worker would show `<dynamic-code>`. Here code keeps the name of its file.

A module that no other process could import by its name may have a function `__load_again__`: from
the qualified name of a class or function of the module to that object. The function is sent then.
"""

from __future__ import annotations

import io
import sys
from collections import ChainMap
from collections.abc import Callable
from types import CodeType, FunctionType, ModuleType
from typing import Any, ClassVar

import cloudpickle


def dumps(what: Any) -> bytes:
    """The object as bytes, which `pickle.loads` reads where this package is installed.

    Raises:
        Exception: of many types, for what cannot be pickled.
    """
    with io.BytesIO() as file:
        _Pickler(file).dump(what)
        return file.getvalue()


def _code(filename: str, make: Callable[..., CodeType], arguments: tuple[Any, ...]) -> CodeType:
    """In the other process: the code object, with the name of that file."""
    return make(*arguments).replace(co_filename=filename)


def _reduced(code: CodeType) -> tuple[Any, ...]:
    return _code, (code.co_filename, *cloudpickle.Pickler.dispatch_table[CodeType](code))


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]  # cloudpickle has no types
    dispatch_table: ClassVar[Any] = ChainMap(
        {CodeType: _reduced}, cloudpickle.Pickler.dispatch_table
    )

    def reducer_override(self, obj: Any) -> Any:
        """How an object is sent: what a module loads again, by its name there."""
        if isinstance(obj, ModuleType) and hasattr(obj, "__load_again__"):
            return obj.__load_again__, ("",)
        if isinstance(obj, (type, FunctionType)):
            module = sys.modules.get(obj.__module__)
            again = getattr(module, "__load_again__", None)
            if again is not None and _named(module, obj.__qualname__) is obj:
                return again, (obj.__qualname__,)
        return super().reducer_override(obj)


def _named(module: Any, name: str) -> Any:
    """The object of a qualified name in a module, or None."""
    for part in name.split("."):
        module = getattr(module, part, None)
    return module
