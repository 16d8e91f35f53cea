"""Whether the machine has a display, and drawing films without one."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

#: Any of these variables tells SDL, which pygame draws with, where to show windows.
DISPLAYS = ("SDL_VIDEODRIVER", "DISPLAY", "WAYLAND_DISPLAY")
#: Tell SDL that there is no display and no sound.
_DRIVERS = ("SDL_VIDEODRIVER", "SDL_AUDIODRIVER")


def display_problem() -> str | None:
    """Why no window can be opened here, or None; only Linux can tell without trying."""
    if not sys.platform.startswith("linux") or any(map(os.environ.get, DISPLAYS)):
        return None
    return (
        "there is no display to open a window on: neither DISPLAY nor WAYLAND_DISPLAY is set "
        "(ssh -X sets one)."
    )


@contextlib.contextmanager
def without_display() -> Iterator[None]:
    """While frames are drawn on Linux without a display, tell SDL that there is none, nor sound.

    It draws the same frames, without a warning on stderr. Processes that were started before, such
    as workers of environments, are not affected.
    """
    if display_problem() is None:
        yield
        return
    added = [name for name in _DRIVERS if not os.environ.get(name)]
    os.environ.update(dict.fromkeys(added, "dummy"))
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)
