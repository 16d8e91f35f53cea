"""One end of the socket pair between the learner and a worker.

What is sent at every step is a single byte; everything else is a pickle with its length in front.
Sockets are used because reading one tells at once when the other side is gone, however it ended.
"""

from __future__ import annotations

import os
import pickle
import socket
import struct
from typing import Any

# ---- from the learner: step into slot 0 or 1, or close
STEPS = (b"0", b"1")
CLOSE = b"x"

_FRAME = b"#"
_HEADER = struct.Struct("!cQ")
_CHUNK = 1 << 16


class Channel:
    """Sends and receives bytes and frames.

    Args:
        end: this side's socket, blocking.
        patience_seconds: after so many seconds without anything to read, `receive` raises
            BlockingIOError. It may be called again: what has arrived of a frame is kept.
    """

    def __init__(self, end: socket.socket, patience_seconds: int) -> None:
        timeval = struct.pack("@ll", patience_seconds, 0)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, timeval)
        self.socket = end
        self.descriptor = end.fileno()
        self._arrived = bytearray()

    def send(self, byte: bytes) -> None:
        os.write(self.descriptor, byte)

    def send_frame(self, pickled: bytes) -> None:
        self.socket.sendall(_HEADER.pack(_FRAME, len(pickled)))
        self.socket.sendall(pickled)

    def receive(self) -> Any:
        """A single byte as bytes, or what was pickled in a frame; the next is left in the socket.

        Raises:
            EOFError: if the other side is gone (or a ConnectionError, if it left something unread).
            BlockingIOError: if nothing came in time.
        """
        arrived = self._arrived
        while missing := self._missing():
            data = os.read(self.descriptor, min(missing, _CHUNK))
            if not data:
                raise EOFError("the other side of the channel is gone")
            arrived += data
        self._arrived = bytearray()
        if arrived[:1] != _FRAME:
            return bytes(arrived)
        return pickle.loads(memoryview(arrived)[_HEADER.size :])

    def _missing(self) -> int:
        """How many bytes are known to be missing; what lies behind them is not read."""
        arrived = self._arrived
        if not arrived:
            return 1
        if arrived[:1] != _FRAME:
            return 0
        if len(arrived) < _HEADER.size:
            return _HEADER.size - len(arrived)
        return _HEADER.size + int(_HEADER.unpack_from(arrived)[1]) - len(arrived)

    def close(self) -> None:
        self.socket.close()
