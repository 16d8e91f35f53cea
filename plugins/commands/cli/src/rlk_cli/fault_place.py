"""Where an unexpected error was raised: in which distribution, file and line.

An error that was not raised on purpose is a fault. The innermost frame of rlk or a plugin shows
whose fault; if that is a library, so does the component that called it.
"""

from __future__ import annotations

import linecache
import os
import sys
import traceback
from collections.abc import Iterator
from types import FrameType
from typing import NamedTuple

from rlk.registry.discovery import entry_points

#: The package of the kernel, which has no entry point.
KERNEL = "rlk"


class Place(NamedTuple):
    """A line of code, and its owner."""

    owner: str  #: distribution and version, or the user's file
    file: str
    line: int
    is_component: bool  #: whether a distribution with components, or a file of the user's

    def __str__(self) -> str:
        text = linecache.getline(self.file, self.line).strip()
        return f"  in {self.owner}, {self.file}:{self.line}: {text}"


def places(error: BaseException) -> list[Place]:
    """Where it was raised, and where a component called that; empty if rlk was not involved."""
    found = list(_frames(error))[::-1]
    callers = [place for place in found if place.is_component]
    return list(dict.fromkeys([*found[:1], *callers[:1]]))


def _frames(error: BaseException) -> Iterator[Place]:
    """The frames of rlk and of plugins that are lines of a file, the outermost first.

    Code that attrs or dataclasses generate for a class is left out; its caller counts instead.
    """
    owners = {
        point.target.partition(":")[0].partition(".")[0]: f"{point.dist} {point.version}"
        for point in entry_points()
    }
    commands = {__name__.partition(".")[0]}
    for frame, line in traceback.walk_tb(error.__traceback__):
        file, package = frame.f_code.co_filename, _package(frame)
        if file.startswith("<"):
            continue
        if package in owners and package not in commands:
            yield Place(owners[package], file, line, is_component=True)
        elif library := _library(package):
            yield Place(library, file, line, is_component=False)
        elif not _is_installed(file):
            yield Place(os.path.basename(file), file, line, is_component=True)


def _package(frame: FrameType) -> str:
    spec = frame.f_globals.get("__spec__")  # it has the module's name even for `python -m`
    name = frame.f_globals.get("__name__", "") if spec is None else spec.name
    return str(name).partition(".")[0]


def _library(package: str) -> str | None:
    """The distribution of rlk that a package without entry points belongs to, or None."""
    from importlib.metadata import PackageNotFoundError, version

    dist = "rlk-kernel" if package == KERNEL else package.replace("_", "-")
    try:
        return f"{dist} {version(dist)}" if dist.startswith("rlk-") else None
    except PackageNotFoundError:
        return None


def _is_installed(file: str) -> bool:
    """Whether a file is Python's or an installed package's, or compiled from Cython."""
    folders = (os.path.join(prefix, "") for prefix in (sys.base_prefix, sys.prefix))
    return file.startswith(tuple(folders)) or file.endswith(".pyx")
