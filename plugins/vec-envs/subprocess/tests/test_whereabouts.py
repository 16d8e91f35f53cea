"""What a worker says about where it is, in the memory that it shares with the learner."""

from __future__ import annotations

import signal

import numpy as np
import pytest

from rlk_subprocess.whereabouts import answer_by_signal, ask


@pytest.fixture(autouse=True)
def handler():
    before = signal.getsignal(signal.SIGUSR1)
    yield
    signal.signal(signal.SIGUSR1, before)


def test_an_answer_has_nothing_of_an_earlier_one():
    note = np.full(300, ord("x"), np.uint8)
    answer_by_signal(note)
    told = ask(signal.raise_signal, note)
    assert told.startswith("no environment is called (") and told.endswith(")")


def test_an_answer_that_is_too_long_is_cut():
    note = np.zeros(15, np.uint8)
    answer_by_signal(note)
    assert ask(signal.raise_signal, note) == "no environment"
