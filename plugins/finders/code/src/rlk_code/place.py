"""What is at a place: `package.module:Object`, `./file.py:Object`, or the module of a file.

Imports no torch: workers import this module.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import itertools
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs

from rlk.errors import PlanError, UnknownName, described
from rlk.files import looking_at

#: The prefix of the module name of a file; no other module has it.
FILE_PREFIX = "rlk_file_"


def split(place: str) -> tuple[str, str]:
    """(module or file, path of the object in it); a file alone has no object."""
    where, _, path = (place, "", "") if place.endswith(".py") else place.rpartition(":")
    return where, path


def object_at(place: str, what: str) -> Any:
    """The object at a place; for a file alone, its module.

    Args:
        what: a description of it, for messages.

    Raises:
        PlanError: if the module or file does not exist, or raises an exception.
        UnknownName: if it has no such object.
    """
    where, path = split(place)
    found: Any = _from_file(where, what) if where.endswith(".py") else _imported(where, what)
    module = found
    for part in filter(None, path.split(".")):
        if not hasattr(found, part):
            raise UnknownName("class or function", path, offered_names(module), where=where)
        found = getattr(found, part)
    return found


def offered_names(module: ModuleType) -> list[str]:
    """The names in a module's `__all__`, or else its own classes and functions."""
    if hasattr(module, "__all__"):
        return list(module.__all__)
    functions = (value for value in vars(module).values() if inspect.isfunction(value))
    own = [one.__name__ for one in functions if one.__module__ == module.__name__]
    return [*classes_of(module), *own]


def classes_of(module: ModuleType) -> list[str]:
    """The names of the classes that a module defines itself."""
    classes = (value for value in vars(module).values() if inspect.isclass(value))
    return [one.__name__ for one in classes if one.__module__ == module.__name__]


def _imported(name: str, what: str) -> ModuleType:
    """Import a module, also from the working folder, as `python -m` does."""
    try:
        with _first_on_path(""):
            return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        raise PlanError(f"cannot import {what} module {name!r}: {_cause(error)}.") from error


@contextmanager
def _first_on_path(entry: str) -> Iterator[None]:
    """The places of modules begin with this one."""
    sys.path.insert(0, entry)
    try:
        yield
    finally:
        if entry in sys.path:  # code may change the list itself
            sys.path.remove(entry)


def _cause(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        guard = 'put what it does as a program under: if __name__ == "__main__"'
        return f"it ends the program ({described(error)}); {guard}"
    return described(error)


@attrs.frozen
class _FromFile:
    """What has a qualified name in a file, in a worker that cannot import its module.

    The empty name is that of the module itself.
    """

    path: str

    def __call__(self, name: str) -> Any:
        return object_at(f"{self.path}:{name}", "the code in")


def _from_file(place: str, what: str) -> ModuleType:
    """The module of a file, loaded once; it may import its neighbours, as `python file.py` may."""
    with looking_at(Path(place), f"cannot read {what} file {place!r}", PlanError):
        path = Path(place).resolve()
        is_there = path.is_file()
    name = _module_name(path)
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not is_there:
        raise PlanError(f"{what} file {place!r} does not exist.")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    module.__load_again__ = _FromFile(str(path))  # type: ignore[attr-defined]  # see sent_code
    try:
        with _first_on_path(str(path.parent)):
            spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]  # nobody is to find half of it
        if isinstance(error, (Exception, SystemExit)):
            raise PlanError(f"{what} file {place!r} fails: {_cause(error)}.") from error
        raise
    return module


def _module_name(path: Path) -> str:
    """The name of a file's module; a second file of the same stem gets a number."""
    first = f"{FILE_PREFIX}{path.stem}"
    names = itertools.chain([first], (f"{first}_{number}" for number in itertools.count(2)))
    return next(name for name in names if _is_free(name, path))


def _is_free(name: str, path: Path) -> bool:
    """Whether no module has that name, or the one of this file."""
    loaded = sys.modules.get(name)
    return loaded is None or getattr(loaded, "__file__", None) == str(path)
