"""Whose compiled code is loaded: loading a library runs whatever was put into it."""

from __future__ import annotations

import os
from pathlib import Path

#: The bits of a mode that let the group, and everybody else, write.
OTHERS_WRITE = 0o022


def why_not_trusted(path: Path, variable: str) -> str:
    """Who else may put code into a folder or a file of compiled code; "" if nobody may.

    Args:
        path: the folder or the file; what does not exist yet is trusted.
        variable: the environment variable that chooses another folder, for the message.
    """
    try:
        found = path.stat()
    except OSError:  # there is none, or whoever writes there will say why that fails
        return ""
    if not hasattr(os, "getuid"):  # Windows
        return ""
    if found.st_uid != os.getuid():
        return f"{path} belongs to another user, so set {variable} to a folder of your own"
    if found.st_mode & OTHERS_WRITE:
        return f"other users may write to {path}; empty it, and type: chmod go-w {path}"
    return ""
