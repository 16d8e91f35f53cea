"""Environments with all kinds of spaces, infos and ends, and a check for leftovers."""

from __future__ import annotations

import gc
import os
import time
from types import SimpleNamespace

import pytest

from rlk_subprocess import SubprocVecEnv
from rlk_testing.environments import unusual_spaces
from rlk_testing.tools.processes import descendants, runs


@pytest.fixture(scope="session")
def zoo():
    return SimpleNamespace(
        Everything=unusual_spaces.Everything,
        play=unusual_spaces.play,
        gone=gone,
        running=runs,
        descendants=descendants,
        shared_files=shared_files,
    )


def gone(pids, seconds=5.0):
    """Whether all of those processes end in time."""
    pids, deadline = list(pids), time.monotonic() + seconds
    while any(map(runs, pids)) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not any(map(runs, pids))


def shared_files():
    """Names in /dev/shm, without those that other programs add and remove.

    These are MPI's, and semaphores of multiprocessing, which this backend does not use: tests of
    `rlk tune` that run at the same time have some.
    """
    found = os.listdir("/dev/shm") if os.path.isdir("/dev/shm") else []
    return {name for name in found if not name.startswith(("mpich", "ucx", "sem.mp-"))}


@pytest.fixture
def make(nothing_is_left_behind):
    """Makes vector environments that are closed at the end, whatever happens.

    Their workers are forked, which is cheap; other tests cover how workers are started.
    """
    made = []

    def make(*args, **kwargs):
        kwargs.setdefault("n_workers", 2)
        if "config" not in kwargs:
            kwargs.setdefault("start_method", "fork")
        made.append(SubprocVecEnv(*args, **kwargs))
        return made[-1]

    yield make
    for vector in made:
        vector.close()
    made.clear()


@pytest.fixture(autouse=True)
def nothing_is_left_behind():
    """Every test must end without leaving processes, shared memory or open descriptors behind."""
    files, descriptors = shared_files(), len(os.listdir("/dev/fd"))
    before = set(descendants(os.getpid()))  # a fork server of other tests
    yield

    def left():
        return (
            set(descendants(os.getpid())) - before,  # including zombies
            shared_files() - files,
            len(os.listdir("/dev/fd")) > descriptors,
        )

    found = left()
    if any(found):
        gc.collect()  # cycles keep unused objects alive: rarely, and a collection takes long
        found = left()
    deadline = time.monotonic() + 5.0
    while any(found) and time.monotonic() < deadline:
        time.sleep(0.01)
        found = left()
    processes, memory, more_descriptors = found
    assert processes == set(), "processes are left, if only as zombies"
    assert memory == set()
    assert not more_descriptors
