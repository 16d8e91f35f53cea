"""Films are drawn without a display, so none is looked for where there is none."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

#: Any of them says where SDL, which pygame draws with, is to show windows.
DISPLAYS = ("SDL_VIDEODRIVER", "DISPLAY", "WAYLAND_DISPLAY")


@contextlib.contextmanager
def without_display() -> Iterator[None]:
    """While frames are drawn on Linux without a display, SDL is told that there is none.

    It draws the same, and does not complain on stderr. What this process has started before, such
    as workers of environments, is not told.
    """
    if not sys.platform.startswith("linux") or any(map(os.environ.get, DISPLAYS)):
        yield
        return
    os.environ["SDL_VIDEODRIVER"] = "dummy"
    try:
        yield
    finally:
        os.environ.pop("SDL_VIDEODRIVER", None)
