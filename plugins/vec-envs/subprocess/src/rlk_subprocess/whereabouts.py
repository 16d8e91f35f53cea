"""What a worker that does not answer is doing: the learner asks by a signal, shared memory answers.

It costs nothing while nobody asks. A worker whose compiled code keeps Python's lock cannot answer.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

from rlk_vector_environments.places import place_of

#: How long a worker may take to answer; it runs at the next line of Python.
_ANSWER_SECONDS = 0.5
#: The last byte of a note that is written.
_END = 1

Note = np.ndarray[Any, np.dtype[np.uint8]]


def answer_by_signal(note: Note) -> None:
    """In a worker: from now on SIGUSR1 writes down which environment is where.

    Args:
        note: uint8 [NOTE_BYTES], shared with the learner; the last byte is set when it is written.
    """

    def answer(number: int, frame: FrameType | None) -> None:
        text = place_of(frame).encode()[: len(note) - 1]
        note[: len(text)] = np.frombuffer(text, np.uint8)
        note[-1] = _END

    signal.signal(signal.SIGUSR1, answer)


def ask(send_signal: Callable[[int], None], note: Note) -> str | None:
    """In the learner: what the worker says, or None if it cannot."""
    note[:] = 0
    send_signal(signal.SIGUSR1)
    deadline = time.monotonic() + _ANSWER_SECONDS
    while note[-1] != _END:
        if time.monotonic() > deadline:
            return None
        time.sleep(0.005)
    return note[:-1].tobytes().rstrip(b"\0").decode(errors="replace")
