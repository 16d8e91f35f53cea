"""Text that packages are made of: data files, rendered with `string.Template`."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from string import Template

#: What a data file's name ends with, so that no tool takes it for what it becomes.
SUFFIX = ".template"


def render(path: str, **values: str) -> str:
    """The template at `path` (without its suffix) with every `$name` filled.

    Raises:
        KeyError: if the template has a placeholder that no value is given for.
    """
    return Template(read(path)).substitute(values)


def read(path: str) -> str:
    """The template as it is.

    Raises:
        FileNotFoundError: if there is none.
    """
    return files(__name__).joinpath(path + SUFFIX).read_text(encoding="utf-8")


def names(folder: str) -> Iterator[str]:
    """The paths of the templates in a folder and those within it, without their suffix."""
    for entry in files(__name__).joinpath(folder).iterdir():
        if entry.is_dir():
            yield from names(f"{folder}/{entry.name}")
        elif entry.name.endswith(SUFFIX):
            yield f"{folder}/{entry.name.removesuffix(SUFFIX)}"
