"""Processes are listed from /proc and from `ps` alike."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time

import pytest

from rlk_testing.tools import processes
from rlk_testing.tools.processes import descendants, of_session, runs

pytestmark = pytest.mark.skipif(os.name != "posix", reason="sessions of POSIX")
HAS_A_CHILD = (
    "import subprocess, sys\n"
    "child = subprocess.Popen([sys.executable, '-c', 'input()'], stdin=sys.stdin)\n"
    "print(child.pid, flush=True)\n"
    "child.wait()\n"
)


@pytest.fixture(params=["proc", "ps"])
def listed(request, monkeypatch, tmp_path):
    """Processes are listed in one of the two ways."""
    if request.param == "ps":
        if shutil.which("ps") is None:
            pytest.skip("there is no ps")
        monkeypatch.setattr(processes, "_PROC", tmp_path)
    elif not os.path.exists("/proc/self/stat"):
        pytest.skip("there is no /proc")


def test_a_child_and_its_child_are_listed_until_they_have_ended(listed):
    command = [sys.executable, "-c", HAS_A_CHILD]
    given = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    before = descendants(os.getpid())
    with subprocess.Popen(command, start_new_session=True, **given) as child:
        below = int(child.stdout.readline())
        assert {*descendants(os.getpid())} - {*before} == {child.pid, below}
        assert descendants(child.pid) == [below]
        assert {*of_session(child.pid)} == {child.pid, below}
        assert runs(child.pid) and runs(below)
    assert not runs(child.pid) and not runs(below)
    assert {*descendants(os.getpid())} <= {*before} and of_session(child.pid) == []


def test_a_zombie_is_a_descendant_but_does_not_run(listed):
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        until = time.monotonic() + 60
        while runs(child.pid):
            assert time.monotonic() < until
            time.sleep(0.01)
        assert child.pid not in of_session(os.getsid(0))
        assert child.pid in descendants(os.getpid())
    assert child.pid not in descendants(os.getpid())
