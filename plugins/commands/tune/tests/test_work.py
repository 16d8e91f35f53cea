"""The processes of a search."""

from __future__ import annotations

from multiprocessing import Pipe, SimpleQueue
from typing import Any

import pytest

from rlk.errors import RlkError
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
