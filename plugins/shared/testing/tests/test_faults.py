"""A Ctrl-C that does not get through makes a test fail and not hang."""

from __future__ import annotations

import contextlib
import signal
import time

import pytest

from rlk_testing.faults import ctrl_c_after, failing_after


def swallows():
    """Continues after every Ctrl-C."""
    while True:
        with contextlib.suppress(KeyboardInterrupt):
            time.sleep(30)


def test_what_ends_by_ctrl_c_passes():
    with ctrl_c_after(0.01):
        time.sleep(30)


def test_what_swallows_it_and_goes_on_fails_when_patience_ends():
    with (
        pytest.raises(pytest.fail.Exception, match=r"went on for 0\.01 seconds after Ctrl-C"),
        ctrl_c_after(0.01, patience=0.01),
    ):
        swallows()


def test_what_swallows_it_and_ends_fails():
    with (
        pytest.raises(pytest.fail.Exception, match=r"Ctrl-C was lost"),
        ctrl_c_after(0.01),
        contextlib.suppress(KeyboardInterrupt),
    ):
        time.sleep(30)


def test_a_limit_holds_again_and_goes_on_behind_a_ctrl_c():
    before = signal.getsignal(signal.SIGALRM)
    failed = []
    with failing_after(0.05, "it hangs"):
        with ctrl_c_after(0.001):
            time.sleep(30)
        for _ in range(2):
            with pytest.raises(pytest.fail.Exception, match="it hangs") as caught:
                time.sleep(30)
            failed.append(caught)
    assert len(failed) == 2 and signal.getsignal(signal.SIGALRM) is before
