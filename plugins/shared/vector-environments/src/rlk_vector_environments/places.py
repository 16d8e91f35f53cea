"""Where each environment of a process that does not answer is in its code."""

from __future__ import annotations

from pathlib import Path
from types import FrameType

from rlk_vector_environments.stepping import environment_in


def place_of(frame: FrameType | None) -> str:
    """Which environment is in which of its methods, and the line of code."""
    if frame is None:
        return ""
    code = frame.f_code
    where = f"({Path(code.co_filename).name} line {frame.f_lineno}, in {code.co_name})"
    inner, outer = frame, frame.f_back
    while outer is not None:
        index = environment_in(outer)
        if index is not None:
            return f"environment {index} is in {inner.f_code.co_name} {where}"
        inner, outer = outer, outer.f_back
    return f"no environment is called {where}"
