"""The processes of a search."""

from __future__ import annotations

import os
import signal
from multiprocessing import Pipe, SimpleQueue, get_context
from multiprocessing.connection import Connection
from typing import Any

import pytest

from rlk.errors import RlkError
from rlk_tune import work
from rlk_tune.work import _await


class Ended:
    """A process whose sentinel is ready before its exit code is known."""

    def __init__(self, *codes: int | None) -> None:
        self.sentinel, other = Pipe()
        other.close()
        self._codes = list(codes)

    @property
    def exitcode(self) -> int | None:
        return self._codes.pop(0) if len(self._codes) > 1 else self._codes[0]


@pytest.mark.parametrize("before", range(4))
def test_an_exit_code_that_comes_late_is_not_missed(before: int) -> None:
    failures: Any = SimpleQueue()
    failures.put(("the environment broke", 3))
    processes = [Ended(0), Ended(*[None] * before, 3)]
    with pytest.raises(RlkError, match="the environment broke") as raised:
        _await(processes, failures)
    assert raised.value.exit_code == 3


def test_processes_that_end_well_are_waited_for() -> None:
    _await([Ended(0), Ended(None, None, 0)], SimpleQueue())


def be_deaf(held: Connection) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    work.END_SECONDS = 0.1
    work._end_with_parent()


def start_and_die(held: Connection) -> None:
    get_context("fork").Process(target=be_deaf, args=(held,)).start()
    os._exit(0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
def test_a_process_whose_parent_is_gone_ends_whatever_it_does_with_signals() -> None:
    mine, held = Pipe(duplex=False)
    parent = get_context("fork").Process(target=start_and_die, args=(held,))
    parent.start()
    held.close()
    parent.join()
    assert mine.poll(30)
    with pytest.raises(EOFError):
        mine.recv()
