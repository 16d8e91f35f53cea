"""One end of the socket pair between the learner and a worker.

A step sends a single byte; everything else is sent as a pickle after its length. Sockets are used
because reading from one shows at once that the process at the other end has ended, however it
ended.
"""

from __future__ import annotations

import os
import socket
import struct
from typing import Any

from rlk_vector_environments.worker_side import loads

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
        patience_seconds: if there is nothing to read for so many seconds, `receive` raises
            BlockingIOError. It may be called again: the part of a frame that has arrived is kept.
        frames: what the frames are that it receives, for the message about one that cannot be
            unpickled.
    """

    def __init__(self, end: socket.socket, patience_seconds: int, frames: str = "a frame") -> None:
        timeval = struct.pack("@ll", patience_seconds, 0)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, timeval)
        self.socket = end
        self.descriptor = end.fileno()
        self._arrived, self._frames = bytearray(), frames

    def send(self, byte: bytes) -> None:
        os.write(self.descriptor, byte)

    def send_frame(self, pickled: bytes) -> None:
        self.socket.sendall(_HEADER.pack(_FRAME, len(pickled)))
        self.socket.sendall(pickled)

    def receive(self) -> Any:
        """A single byte as bytes, or the unpickled content of a frame; reads only one of them.

        A frame that cannot be unpickled is returned as an `unsendable` Failure.

        Raises:
            EOFError: if the other side has ended (or a ConnectionError, if it left data unread).
            BlockingIOError: if nothing arrived in time.
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
        return loads(memoryview(arrived)[_HEADER.size :], self._frames)

    def _missing(self) -> int:
        """How many bytes are known to be missing; nothing behind them is read."""
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
        self.descriptor = -1  # the system may give the number to another file
