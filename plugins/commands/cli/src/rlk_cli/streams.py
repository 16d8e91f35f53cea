"""Standard streams of a process that was started without them (`rlk run … >&-`, some daemons)."""

from __future__ import annotations

import os
import sys


def open_closed_streams() -> None:
    """Let what is closed of the standard input, output and error lead to nowhere.

    Otherwise the next file that is opened gets the free descriptor, and what is printed by code
    that knows nothing of Python goes into that file.
    """
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(descriptor)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest one that is free
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(descriptor, "w" if descriptor else "r", closefd=False))
