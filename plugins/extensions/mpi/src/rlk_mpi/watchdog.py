"""Names the rank that has died: launchers then end the others, and MPICH names only a process.

Every rank holds a robust mutex in memory that the ranks of one machine share. When a process dies,
by any signal, the kernel gives its mutex to the thread that waits for it, before it closes the
process's sockets: that thread can name the rank before the launcher ends its process as well. This
costs nothing while all ranks live. Only Linux has robust mutexes; elsewhere, and where ranks do not
see each other's memory in /proc, only the launcher's message is printed.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from rlk_mpi.world import MpiWorld


#: Room for a pthread_mutex_t (40 bytes on x86-64, 48 on ARM) on a separate cache line.
ROOM = 64
PTHREAD_PROCESS_SHARED = PTHREAD_MUTEX_ROBUST = 1
#: If no launcher has ended this process this long after another one died, it ends itself.
LEFT_SECONDS = 5.0


class Watchdog:
    """Holds this rank's mutex, and waits for the mutexes of other ranks on this machine.

    The first rank of a machine waits for all others on it, the second one for the first.
    """

    def __init__(self, ranks: MpiWorld) -> None:
        self._release: Any = None
        on_main = threading.current_thread() is threading.main_thread()
        # A thread owns a mutex: threads other than the main one may end while the rank lives.
        if all(ranks.comm.allgather(on_main and sys.platform == "linux")):
            self._start(ranks)

    def _start(self, ranks: MpiWorld) -> None:
        here = ranks.comm.Split_type(ranks.mpi.COMM_TYPE_SHARED)
        who = here.allgather((ranks.rank, os.getpid()))
        self._memory = _shared(here)
        if self._memory is None:
            here.Free()
            return
        start = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        libc = ctypes.CDLL(None)
        places = [ctypes.c_void_p(start + ROOM * index) for index in range(here.size)]
        _lock_new(libc, places[here.rank])
        self._release = lambda: libc.pthread_mutex_unlock(places[here.rank])
        here.Barrier()
        watched = {0: range(1, here.size), 1: range(1)}.get(here.rank, range(0))
        for index in watched:
            rank, process = who[index]
            text = f"\nmpi: rank {rank} (process {process}) has died, and all end.\n"
            arguments = (libc, places[index], text.encode())
            threading.Thread(target=_wait, args=arguments, daemon=True).start()

    def release(self) -> None:
        """This rank ends as planned, and must not be reported as dead."""
        if self._release is not None:
            self._release()
            self._release = None


def _shared(here: Any) -> mmap.mmap | None:
    """Memory that all processes of a communicator share; it has no name that could remain.

    None if one of them cannot open it: there is no /proc, or each has a namespace of processes.
    """
    size = ROOM * here.size
    descriptor, told = None, None
    if here.rank == 0 and hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("rlk-mpi")
        os.ftruncate(descriptor, size)
        told = f"/proc/{os.getpid()}/fd/{descriptor}", _identity(os.fstat(descriptor))
    file = _opened(here.bcast(told))
    memory = None
    if all(here.allgather(file is not None)) and file is not None:
        memory = mmap.mmap(file.fileno(), size)
    if file is not None:
        file.close()
    if descriptor is not None:
        os.close(descriptor)
    return memory


def _opened(told: tuple[str, tuple[int, int]] | None) -> BinaryIO | None:
    """The file at a place, if it is there and is that one: elsewhere, it may be any program's."""
    if told is None:
        return None
    place, identity = told
    try:
        return open(place, "r+b") if _identity(os.stat(place)) == identity else None
    except OSError:
        return None


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _lock_new(libc: Any, place: ctypes.c_void_p) -> None:
    """Make a robust mutex at that address and lock it."""
    kind = ctypes.create_string_buffer(ROOM)
    libc.pthread_mutexattr_init(kind)
    libc.pthread_mutexattr_setpshared(kind, PTHREAD_PROCESS_SHARED)
    libc.pthread_mutexattr_setrobust(kind, PTHREAD_MUTEX_ROBUST)
    libc.pthread_mutex_init(place, kind)
    libc.pthread_mutex_lock(place)


def _wait(libc: Any, place: ctypes.c_void_p, text: bytes) -> None:
    """Wait until the rank releases its mutex, or dies, which is reported."""
    if libc.pthread_mutex_lock(place) != errno.EOWNERDEAD:
        return
    os.write(2, text)
    time.sleep(LEFT_SECONDS)
    os._exit(1)
