"""A machine whose ranks do not see each other in /proc has no watchdog; all else works."""

from __future__ import annotations

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from rlk_mpi.watchdog import ROOM, Watchdog

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="robust mutexes of Linux")


class OneRank:
    """A communicator of rank 0, which may hear of another one that it opened nothing."""

    rank, size = 0, 1

    def __init__(self, other=()):
        self.other = other

    def allgather(self, value):
        return [value, *(self.other if isinstance(value, bool) else ())]

    def bcast(self, value):
        return value

    def Barrier(self):
        pass

    def Free(self):
        pass


def ranks(*other):
    comm = SimpleNamespace(allgather=lambda it: [it], Split_type=lambda kind: OneRank(other))
    return SimpleNamespace(comm=comm, rank=0, mpi=SimpleNamespace(COMM_TYPE_SHARED=0))


def watches(*others):
    """Whether rank 0 is watched; it ends as planned, because its memory goes with the watchdog."""
    watchdog = Watchdog(ranks(*others))
    found = watchdog._release is not None
    watchdog.release()
    return found


def test_ranks_are_watched_if_all_of_them_see_the_memory():
    assert watches() and watches(True) and not watches(False)


def test_without_proc_or_memory_without_a_name_no_rank_is_watched(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(os, "getpid", lambda: 1 << 30)  # no process has that number
        assert not watches()
    monkeypatch.delattr(os, "memfd_create", raising=False)
    assert not watches()


def test_a_file_of_another_process_is_not_taken_for_the_memory(tmp_path, monkeypatch):
    """In a namespace of processes of its own, a rank finds another process by rank 0's number."""
    make = os.memfd_create

    def at_the_same_number(name):
        made = make(name)
        os.dup2(made, number)
        os.close(made)
        return number

    with (tmp_path / "foreign").open("wb+") as foreign:
        foreign.write(b"x" * ROOM)
        foreign.flush()
        number = os.dup(foreign.fileno())
    command = [sys.executable, "-c", "input()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[number]) as other:
        monkeypatch.setattr(os, "memfd_create", at_the_same_number)
        monkeypatch.setattr(os, "getpid", lambda: other.pid)
        assert not watches()
        other.communicate(b"\n")
    assert (tmp_path / "foreign").read_bytes() == b"x" * ROOM
