"""Text that packages are made of: data files, rendered with `string.Template`."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from string import Template

#: The templates of this package.
HERE: Traversable = files(__name__)
#: What a data file's name ends with, so that no tool takes it for what it becomes.
SUFFIX = ".template"


def render(path: str, folder: Traversable = HERE, **values: str) -> str:
    """The template at `path` in a folder (without its suffix) with every `$name` filled.

    Raises:
        KeyError: if the template has a placeholder that no value is given for.
    """
    return Template(read(path, folder)).substitute(values)


def read(path: str, folder: Traversable = HERE) -> str:
    """The template as it is.

    Raises:
        FileNotFoundError: if there is none.
    """
    return folder.joinpath(path + SUFFIX).read_text(encoding="utf-8")


def names(folder: Traversable) -> Iterator[str]:
    """The paths of the templates in a folder and those within it, without their suffix."""
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from (f"{entry.name}/{name}" for name in names(entry))
        elif entry.name.endswith(SUFFIX):
            yield entry.name.removesuffix(SUFFIX)
