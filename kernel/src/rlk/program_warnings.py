"""Warns about a call by the program, at that line of the program."""

from __future__ import annotations

import sys
import warnings

#: The packages whose code is not the program's, besides those named `rlk_…`: contextlib enters and
#: leaves `with`, and a decorator of numpy is around the training loop.
_OWN = ("rlk", "contextlib", "numpy")


def warn_program(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Warn at the line of the program that called rlk or a plugin, however many calls ago that was.

    Args:
        message: the text, or a warning.
        category: the class of the warning, for a text.
    """
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _is_own(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_own(module: str) -> bool:
    package = module.partition(".")[0]
    return package in _OWN or package.startswith("rlk_")
