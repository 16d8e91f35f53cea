"""Faults are what they say; a Ctrl-C that does not get through makes a test fail and not hang."""

from __future__ import annotations

import contextlib
import signal
import time

import pytest

from rlk_testing.tools.faults import ctrl_c_after, disk_gone_after, failing_after


def test_a_disk_that_is_gone_keeps_what_it_was_given_and_only_of_files_opened_unbuffered(tmp_path):
    path = tmp_path / "rows"
    path.write_bytes(b"1")
    with disk_gone_after(2), path.open("r+b", buffering=0) as file:
        assert file.write(b"abc") == 2
        for change in (lambda: file.write(b"c"), lambda: file.truncate(0)):
            with pytest.raises(OSError, match="tale file handle"):
                change()
        assert path.read_bytes() == b"ab"


def swallows():
    """Continues after every Ctrl-C."""
    while True:
        with contextlib.suppress(KeyboardInterrupt):
            time.sleep(30)


def test_what_ends_by_ctrl_c_passes():
    with ctrl_c_after(0.05):
        time.sleep(30)


def test_what_swallows_it_and_goes_on_fails_when_patience_ends():
    with (
        pytest.raises(pytest.fail.Exception, match=r"went on for 0\.05 seconds after Ctrl-C"),
        ctrl_c_after(0.05, patience=0.05),
    ):
        swallows()


def test_what_swallows_it_and_ends_fails():
    with (
        pytest.raises(pytest.fail.Exception, match=r"Ctrl-C was lost"),
        ctrl_c_after(0.05),
        contextlib.suppress(KeyboardInterrupt),
    ):
        time.sleep(30)


def test_an_alarm_that_rings_before_the_code_inside_begins_leaves_nothing_behind(monkeypatch):
    handler, timer = signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)
    set_timer = signal.setitimer

    def rings_at_once(which, seconds, again=0.0):
        set_timer(which, seconds, again)
        if again:
            signal.raise_signal(signal.SIGALRM)

    monkeypatch.setattr(signal, "setitimer", rings_at_once)
    with pytest.raises(KeyboardInterrupt), ctrl_c_after(30):
        pytest.fail("the alarm did not ring")
    assert signal.getsignal(signal.SIGALRM) is handler
    assert signal.getitimer(signal.ITIMER_REAL)[0] <= timer[0]


def test_a_limit_holds_again_and_goes_on_behind_a_ctrl_c():
    before = signal.getsignal(signal.SIGALRM)
    failed = []
    with failing_after(0.5, "it hangs"):
        with ctrl_c_after(0.05):
            time.sleep(30)
        for _ in range(2):
            with pytest.raises(pytest.fail.Exception, match="it hangs") as caught:
                time.sleep(30)
            failed.append(caught)
    assert len(failed) == 2 and signal.getsignal(signal.SIGALRM) is before
