"""Where a worker that does not answer hangs: asked by a signal, answered in shared memory.

It costs nothing until it is used. A worker whose compiled code holds the GIL cannot answer.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

from rlk_vector_environments.stepping import place_of

#: Seconds that a worker may take to answer; its handler runs at the next line of Python.
_ANSWER_SECONDS = 0.5
#: The last byte of a note that is complete.
_END = 1

Note = np.ndarray[Any, np.dtype[np.uint8]]


def answer_by_signal(note: Note) -> None:
    """In a worker: from now on, SIGUSR1 writes down where each environment is.

    Args:
        note: uint8 [NOTE_BYTES], shared with the learner; the last byte marks it as complete.
    """

    def answer(number: int, frame: FrameType | None) -> None:
        text = place_of(frame).encode()[: len(note) - 1]
        note[: len(text)] = np.frombuffer(text, np.uint8)
        note[-1] = _END

    signal.signal(signal.SIGUSR1, answer)


def ask(send_signal: Callable[[int], None], note: Note) -> str | None:
    """In the learner: the worker's answer, or None if it cannot answer."""
    note[:] = 0
    send_signal(signal.SIGUSR1)
    deadline = time.monotonic() + _ANSWER_SECONDS
    while note[-1] != _END:
        if time.monotonic() > deadline:
            return None
        time.sleep(0.005)
    return note[:-1].tobytes().rstrip(b"\0").decode(errors="replace")
