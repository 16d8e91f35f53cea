"""What `watching` records: the guards of hostile files depend on it."""

from __future__ import annotations

import os
import shutil
import socket
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from faults import watch
from faults.watch import watching


def fork() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def connect() -> None:
    with socket.socket() as server, socket.socket() as client:
        server.bind(("127.0.0.1", 0))
        server.listen()
        client.connect(server.getsockname())


@pytest.mark.parametrize(
    ("event", "act"),
    [
        ("open", lambda: Path("new").touch()),
        ("os.remove", lambda: os.remove("file")),
        ("os.rename", lambda: os.rename("file", "new")),
        ("os.rename", lambda: os.replace("file", "new")),
        ("os.truncate", lambda: os.truncate("file", 0)),
        ("os.link", lambda: os.link("file", "new")),
        ("os.symlink", lambda: os.symlink("file", "new")),
        ("os.mkdir", lambda: os.mkdir("new")),
        ("os.rmdir", lambda: os.rmdir("folder")),
        ("shutil.rmtree", lambda: shutil.rmtree("folder")),
        ("os.fork", fork),
        ("socket.connect", connect),
    ],
)
def test_what_no_file_may_cause_is_recorded(event, act, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    Path("folder").mkdir()
    with watching() as watched:
        act()
    assert watched.events and watched.events[0].startswith(f"{event} ")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the peak is of the whole process")
def test_memory_is_recorded_in_every_block_not_only_in_the_first_large_one():
    for mebibytes in (300, 200):
        with watching() as watched:
            bytearray(mebibytes << 20)
        assert watched.bytes > mebibytes * 0.9 * 2**20
    with watching() as watched:
        pass
    assert watched.bytes < 50 << 20


@pytest.mark.parametrize("system", ["linux", "darwin"])
def test_the_peak_without_proc_is_in_bytes(system, tmp_path, monkeypatch):
    resource = pytest.importorskip("resource")
    unit = 1024 if system == "linux" else 1
    used = SimpleNamespace(ru_maxrss=(700 << 20) // unit)
    monkeypatch.setattr(watch, "_STATUS", tmp_path / "none")
    monkeypatch.setattr(resource, "getrusage", lambda who: used)
    monkeypatch.setattr(sys, "platform", system)
    assert watch._peak() == 700 << 20
