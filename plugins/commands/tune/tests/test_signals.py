"""How signals interrupt a search, and where they may not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from optuna.storages.journal import JournalFileOpenLock

from rlk_cli.signals import Interrupted
from rlk_tune.search import Search
from rlk_tune.signals import INTERRUPTIONS, kept_from_processes
from rlk_tune.study import next_trial, open_study


def send(name: str) -> None:
    os.kill(os.getpid(), getattr(signal, name))


def test_a_signal_interrupts_where_it_comes() -> None:
    handler = signal.getsignal(signal.SIGTERM)
    with pytest.raises(Interrupted) as raised, INTERRUPTIONS.enabled():
        send("SIGTERM")
        pytest.fail("it goes on")
    assert raised.value.name == "SIGTERM"
    assert signal.getsignal(signal.SIGTERM) == handler


def test_what_is_held_is_interrupted_at_its_end_or_by_a_second_signal() -> None:
    done = []
    with pytest.raises(Interrupted), INTERRUPTIONS.enabled():
        with INTERRUPTIONS.held():
            send("SIGTERM")
            done.append("the rest")
        done.append("what follows")
    assert done == ["the rest"]
    with pytest.raises(Interrupted) as raised, INTERRUPTIONS.enabled(), INTERRUPTIONS.held():
        send("SIGTERM")
        send("SIGHUP")
        pytest.fail("it goes on")
    assert raised.value.name == "SIGTERM"
    with INTERRUPTIONS.enabled(), INTERRUPTIONS.held():
        pass  # nothing is left of the signals before


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C is not ignored, as it is in a process that a script starts in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="no signal can be blocked")
@pytest.mark.usefixtures("ctrl_c")
def test_a_signal_waits_until_processes_are_started_which_do_not_get_it() -> None:
    done = []
    script = "import os, signal; os.kill(os.getpid(), signal.SIGINT); print('alive')"
    with pytest.raises(Interrupted) as raised, INTERRUPTIONS.enabled():
        with INTERRUPTIONS.held(), kept_from_processes(signal.SIGINT):
            send("SIGINT")
            ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
            done.append(ended.stdout)
        done.append("what follows")
    assert raised.value.name == "SIGINT"
    assert done == ["alive\n"]


def test_a_signal_in_the_middle_of_a_release_is_not_lost(
    tmp_path: Path, search: Callable[..., Search], monkeypatch: pytest.MonkeyPatch
) -> None:
    study = open_study(tmp_path, search())
    release, unlink = JournalFileOpenLock.release, os.unlink

    def interrupted_unlink(path: str) -> None:
        unlink(path)
        send("SIGTERM")

    def interrupted_release(self: JournalFileOpenLock) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(os, "unlink", interrupted_unlink)
            release(self)

    monkeypatch.setattr(JournalFileOpenLock, "release", interrupted_release)
    with pytest.raises(Interrupted), INTERRUPTIONS.enabled():
        next_trial(study, search(), job=0)
    assert not list(tmp_path.glob("*.lock*"))
