"""Standard streams that are closed (`rlk run … >&-`, some daemons), or lack characters."""

from __future__ import annotations

import io
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


def escape_what_cannot_be_shown() -> None:
    r"""Let the output show a character that its encoding lacks as `\u65e5`, as errors do.

    Otherwise a folder with such a name would end the command that prints it, and a training.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")
