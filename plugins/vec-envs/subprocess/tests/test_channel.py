from __future__ import annotations

import os
import pickle
import socket

import pytest

from rlk_subprocess.channel import CLOSE, STEPS, Channel
from rlk_vector_environments.sent_failures import Failure


@pytest.fixture
def ends():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield Channel(ours, 1), Channel(theirs, 1)


def test_bytes_and_frames_that_arrive_together_are_received_one_by_one(ends):
    ours, theirs = ends
    ours.send(STEPS[0])
    ours.send(CLOSE)
    ours.send_frame(pickle.dumps(["a", "frame"]))
    ours.send_frame(pickle.dumps(None))
    ours.send(STEPS[1])
    found = [theirs.receive() for _ in range(5)]
    assert found == [b"0", b"x", ["a", "frame"], None, b"1"]


def test_what_comes_behind_a_frame_is_left_in_the_socket(ends):
    """A worker reads the descriptor of the memory from the socket itself."""
    ours, theirs = ends
    ours.send_frame(pickle.dumps("make"))
    ours.send(CLOSE)
    assert theirs.receive() == "make"
    assert theirs.socket.recv(1) == CLOSE


class TwoArguments(Exception):
    """Can be pickled, and not be unpickled."""

    def __init__(self, code, where):
        super().__init__(f"{code} at {where}")


def test_a_frame_that_cannot_be_unpickled_is_said_to_be_so_and_the_next_is_received(ends):
    ours, theirs = ends
    ours.send_frame(pickle.dumps({"error": TwoArguments(3, "gripper")}))
    ours.send_frame(pickle.dumps("next"))
    found = theirs.receive()
    assert isinstance(found, Failure) and found.kind == "unsendable"
    assert theirs.receive() == "next"
    said = str(found.exception())
    assert said.startswith("a frame cannot be unpickled: TypeError: ") and "'where'" in said
    assert "\nThe traceback:\n" in said and isinstance(found.exception().__cause__, TypeError)


def test_a_closed_channel_writes_into_no_file_that_has_its_number_now(ends):
    ours, _ = ends
    number, (read, write) = ours.descriptor, os.pipe()
    ours.close()
    os.dup2(write, number)
    with open(read, "rb") as written, open(write, "wb"), open(number, "wb"):
        os.set_blocking(read, False)
        with pytest.raises(OSError, match="Bad file descriptor"):
            ours.send(CLOSE)
        assert written.read() is None


def test_a_frame_may_arrive_in_pieces(ends):
    ours, theirs = ends
    large = bytes(range(256)) * 500
    theirs.socket.setblocking(False)  # as if the patience had run out
    ours.socket.send(b"#")
    with pytest.raises(BlockingIOError):
        theirs.receive()
    pickled = pickle.dumps(large)
    ours.socket.sendall(len(pickled).to_bytes(8, "big") + pickled[:70_000])
    with pytest.raises(BlockingIOError):
        theirs.receive()
    ours.socket.sendall(pickled[70_000:])
    assert theirs.receive() == large
