"""A run folder has one owner; files that are deleted, or left by a killed process, are noticed."""

from __future__ import annotations

import errno
import gc
import os
import shutil
import signal
import socket
import time
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest

import rlk
from rlk.errors import PlanError
from rlk.files import remove_unfinished, replacing
from rlk.running import folder_owner
from rlk.running.folder_owner import OWNER, OwnedFolder, in_use
from rlk_testing.stand_ins import stand_in_kernel
from rlk_testing.tools.command_line import ended

fcntl = pytest.importorskip("fcntl", reason="locks of POSIX")

#: Waits at the end of the iteration with 16 timesteps, until a file `go` exists.
WAITS = """
import time
from pathlib import Path
from types import SimpleNamespace
from rlk.hookspecs import hookimpl

class Waits:
    @hookimpl(trylast=True)
    def rlk_rollout_start(self, run):
        if run.timesteps == 16 and not Path("go").exists():
            Path("waits").touch()
            while not Path("go").exists():
                time.sleep(0.02)
"""
AGAIN = ("--plugin", "./waits.py:Waits")
RUN = (
    *("run", "--algo", "ppo2", "--preset", "none", "--timesteps", "32", "--seed", "1"),
    *("--set", "n_steps=8", "--set", "nminibatches=1", "--set", "n_threads=1", "--out", "there"),
    *("--plugin", "checkpoint:every=8", *AGAIN),
)
KERNEL = stand_in_kernel()


def unfinished(name: str, process: int) -> str:
    """The name of a file that this process has not finished writing."""
    return f"{name}.{process}-0a1b2c3d.rlk-unfinished"


@pytest.fixture
def waiting(rlk_forks, tmp_path, monkeypatch):
    """A run that has 16 timesteps and waits in its folder `there`, below the current one."""
    monkeypatch.chdir(tmp_path)
    Path("waits.py").write_text(WAITS)
    with rlk_forks.start("-m", "rlk", *RUN, cwd=tmp_path) as running:
        deadline = time.monotonic() + 60
        while not Path("waits").exists():
            assert running.poll() is None and time.monotonic() < deadline, running.printed()
            time.sleep(0.02)
        try:
            yield running
        finally:
            Path("go").touch()


def test_who_owns_a_folder_is_said_to_a_second_run_and_reading_it_is_allowed(waiting, capsys):
    for command in (["resume", "there", *AGAIN], [*RUN]):
        assert ended(*command) == 2
        assert f"there is in use: process {waiting.pid} on" in capsys.readouterr().err
    with pytest.raises(PlanError, match=f"process {waiting.pid}"):
        rlk.make("stand-in", kernel=KERNEL, out="there")
    with rlk.load("there/checkpoints/8.zip", plugins=(AGAIN[1],)) as agent:
        assert agent.num_timesteps == 8
    Path("go").touch()
    assert waiting.wait(timeout=60) == 0
    assert not Path("there", OWNER).exists()
    assert ended("resume", "there", "--timesteps", 40, *AGAIN) == 0


def test_a_dead_process_owns_nothing_and_what_its_write_left_is_removed(waiting, tmp_path):
    waiting.kill()
    assert waiting.wait(timeout=60) == -signal.SIGKILL
    names = (unfinished("checkpoints/.24.zip", waiting.pid), unfinished(".x", 1))
    left = [tmp_path / "there" / name for name in names]  # process 1 always runs
    for path in left:
        path.touch()
    assert (tmp_path / "there" / OWNER).exists() and in_use(tmp_path / "there") is None
    (tmp_path / "go").touch()
    assert ended("resume", "there", "--quiet", *AGAIN) == 0
    assert not any(path.exists() for path in left)


def test_a_folder_deleted_during_a_run_is_reported_and_the_run_fails(waiting, tmp_path):
    shutil.rmtree(tmp_path / "there")
    (tmp_path / "go").touch()
    assert waiting.wait(timeout=60) == 1
    printed = waiting.printed()
    assert "there was deleted during the run" in printed and "a write failed" in printed
    assert "the run folder, 1 time: " in printed
    names = {path.name for path in (tmp_path / "there").iterdir()}
    assert {"model.zip", "checkpoints", "progress.csv", "plan.json"} <= names


def test_a_folder_moved_during_a_run_is_said_to_be_moved_and_both_parts_are_folders_of_a_run(
    waiting, tmp_path
):
    (tmp_path / "there").rename(tmp_path / "elsewhere")
    (tmp_path / "go").touch()
    assert waiting.wait(timeout=60) == 1
    printed = " ".join(waiting.printed().split())
    to = f" to {tmp_path}/elsewhere" if Path("/proc/self/fd").exists() else ""
    assert f"there was moved{to} during the run, with what it held" in printed
    assert "lost" not in printed and "deleted" not in printed
    for folder, at in (("elsewhere", "16"), ("there", "32")):
        assert (tmp_path / folder / "plan.json").exists()
        assert (tmp_path / folder / "checkpoints" / f"{at}.zip").exists()
    assert ended("resume", "there", "--timesteps", 40, "--quiet", *AGAIN) == 0


# ---- in one process ------------------------------------------------------------------------------


def test_a_folder_is_lost_only_if_it_is_not_there_or_another_one(tmp_path, monkeypatch):
    path = tmp_path / "there"
    folder = OwnedFolder(path)

    def does_not_answer(self, **_):
        raise OSError(116, "Stale file handle")

    with monkeypatch.context() as stale:
        stale.setattr(Path, "stat", does_not_answer)
        folder.rlk_write_row()
    folder.rlk_write_row()
    for _ in range(2):
        shutil.rmtree(path)
        with pytest.raises(FileNotFoundError, match="there was deleted during the run"):
            folder.rlk_write_row()
        folder.rlk_write_row()
        path.mkdir()
        folder.rlk_write_row()
    path.rename(tmp_path / "elsewhere")
    path.mkdir()
    with pytest.raises(FileNotFoundError, match="there was deleted"):
        folder.rlk_write_row()  # the file that was locked is deleted since the first time
    folder.rlk_write_row()
    folder.release()


def test_two_agents_of_one_process_do_not_share_a_folder(tmp_path):
    with rlk.make("stand-in", kernel=KERNEL, out=str(tmp_path / "a")):
        with pytest.raises(PlanError, match="in use by another agent of this process"):
            rlk.make("stand-in", kernel=KERNEL, out=str(tmp_path / "a"))
        assert in_use(tmp_path / "a")
    assert not (tmp_path / "a").exists(), "nothing was written: nothing is left"
    rlk.make("stand-in", kernel=KERNEL, out=str(tmp_path / "a")).close()


def test_the_folder_of_an_agent_that_no_variable_holds_is_freed_as_the_refusal_says(tmp_path):
    out, outputs = str(tmp_path / "a"), []
    outputs.append(
        rlk.make("stand-in", kernel=KERNEL, out=out)
    )  # as a notebook holds what it shows
    with pytest.raises(PlanError, match=r"for agent in rlk\.open_agents\(\): agent\.close\(\)$"):
        rlk.make("stand-in", kernel=KERNEL, out=out)
    for agent in rlk.open_agents():
        if agent.run.out == tmp_path / "a":  # other tests have agents, too
            agent.close()
    rlk.make("stand-in", kernel=KERNEL, out=out).close()


def test_an_agent_that_cannot_be_made_or_loaded_leaves_no_folder(tmp_path):
    out, given = tmp_path / "new", {"kernel": KERNEL, "device": "cdua"}
    with pytest.raises(PlanError, match="no device"):
        rlk.make("stand-in", out=str(out), **given)
    with rlk.make("stand-in", kernel=KERNEL) as agent:
        model = agent.save(tmp_path / "model")
    with pytest.raises(PlanError, match="no device"):
        rlk.load(model, out=str(out), **given)
    assert not out.exists()
    out.mkdir()
    with pytest.raises(PlanError, match="no device"):
        rlk.make("stand-in", out=str(out), **given)
    assert list(out.iterdir()) == [], "the user's own folder stays"


def test_a_folder_is_free_when_its_owner_is_dead_though_a_child_of_it_lives(tmp_path):
    reading, writing = os.pipe()
    owner = os.fork()
    if owner == 0:
        code = 1
        try:
            folder = OwnedFolder(tmp_path)
            child = os.fork()
            if child == 0:
                os.write(writing, str(os.getpid()).encode())
                time.sleep(30)
            code = int(folder is None)  # it dies without a release, as a process that is killed
        finally:
            os._exit(code)
    assert os.waitpid(owner, 0)[1] == 0
    child = int(os.read(reading, 20))
    try:
        assert in_use(tmp_path) is None
    finally:
        os.kill(child, signal.SIGKILL)
        os.close(reading)
        os.close(writing)


def test_a_child_that_lets_go_of_the_folder_leaves_it_to_its_parent(tmp_path):
    folder = OwnedFolder(tmp_path)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            folder.release()
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    assert in_use(tmp_path) is not None
    folder.release()


def test_only_the_files_of_dead_processes_are_removed(tmp_path):
    dead = os.fork()
    if dead == 0:
        os._exit(0)
    os.waitpid(dead, 0)
    users_own = [f".400.zip.{dead}", ".notes.2024", ".backup-of-thesis.tex.20240131"]
    kept = [unfinished(".400.zip", 1), "400.zip", ".hidden", unfinished("plain", dead), *users_own]
    kept.append(unfinished(".folder", dead))
    removed = [unfinished(".400.zip", dead), unfinished(".8.zip", os.getpid())]
    for name in [*kept[:-1], *removed]:
        (tmp_path / name).touch()
    (tmp_path / kept[-1]).mkdir()
    found = remove_unfinished(tmp_path, owned=False)
    assert sorted(path.name for path in found) == sorted(removed)
    assert sorted(os.listdir(tmp_path)) == sorted(kept)
    with replacing(tmp_path / "new"):
        (aside,) = set(os.listdir(tmp_path)) - set(kept)
        assert aside.startswith(f".new.{os.getpid()}-") and aside.endswith(".rlk-unfinished")
    (tmp_path / aside).touch()
    assert remove_unfinished(tmp_path, owned=False) == [tmp_path / aside]
    assert remove_unfinished(tmp_path, owned=True) == [tmp_path / kept[0]], "of a process that runs"


def test_one_file_that_is_written_twice_at_once_is_that_of_the_last_who_ends(tmp_path):
    path = tmp_path / "model.zip"
    with replacing(path) as one:
        one.write(b"one, ")
        with replacing(path) as other:
            other.write(b"the other")
        assert path.read_bytes() == b"the other"
        one.write(b"whole")
    assert path.read_bytes() == b"one, whole" and os.listdir(tmp_path) == ["model.zip"]


def test_a_link_stays_and_a_pipe_is_written_to(tmp_path):
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "link").symlink_to("a")
    with replacing(tmp_path / "link") as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "a").read_bytes() == b"new"
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    with replacing(tmp_path / "pipe") as file:
        file.write(b"through")
    assert os.read(reader, 100) == b"through" and (tmp_path / "pipe").is_fifo()
    os.close(reader)


def test_a_name_may_be_as_long_as_the_file_system_lets_it(tmp_path):
    with replacing(tmp_path / ("n" * 255)) as file:
        file.write(b"all")
    assert (tmp_path / ("n" * 255)).read_bytes() == b"all"


def test_only_the_folder_that_a_file_is_in_is_one_to_continue_its_run_in(tmp_path):
    home = tmp_path / "home"
    with rlk.make("stand-in", kernel=KERNEL) as agent:
        files = [agent.save(home / "x" / name) for name in ("m", "checkpoints/8")]
    (home / "thesis.tex").touch()
    for file in files:
        for out in {home / "x", file.parent}:
            rlk.load(file, kernel=KERNEL, out=str(out)).close()
        with pytest.raises(PlanError, match="exists and is not empty"):
            rlk.load(file, kernel=KERNEL, out=str(home))


def test_where_there_are_no_locks_a_run_starts_all_the_same_and_says_so(tmp_path, monkeypatch):
    def flock(file, how):
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr("fcntl.flock", flock)
    written = tmp_path / unfinished(".8.zip", 1)  # by a process that may be another run's
    written.touch()
    says = rf"of {tmp_path} has no locks \(Function not implemented\), so rlk would not notice"
    with pytest.warns(UserWarning, match=says) as warned:
        folder = OwnedFolder(tmp_path)
    assert len(warned) == 1 and warned[0].filename == __file__
    assert in_use(tmp_path) is None
    folder.release()
    assert list(tmp_path.iterdir()) == [written]


def test_a_folder_in_which_a_run_was_killed_before_it_began_counts_as_empty(tmp_path):
    (tmp_path / "checkpoints").mkdir()
    for name in (OWNER, unfinished(".plan.json", 1), unfinished("checkpoints/.8.zip", 1)):
        (tmp_path / name).touch()
    with rlk.make("stand-in", kernel=KERNEL, out=str(tmp_path)):
        assert sorted(os.listdir(tmp_path)) == [OWNER, "checkpoints"]
        assert not os.listdir(tmp_path / "checkpoints")
    (tmp_path / OWNER).touch()
    (tmp_path / unfinished("checkpoints/.16.zip", 1)).touch()
    for name in ("notes", "checkpoints/8.zip"):
        (tmp_path / name).touch()
        with pytest.raises(PlanError, match="exists and is not empty"):
            rlk.make("stand-in", kernel=KERNEL, out=str(tmp_path))
        (tmp_path / name).unlink()


def test_the_owner_is_named_with_its_machine(tmp_path):
    folder = OwnedFolder(tmp_path)
    assert (tmp_path / OWNER).read_text() == f"process {os.getpid()} on {socket.gethostname()}"
    folder.release()


def test_a_run_stays_in_its_folder_when_the_working_folder_changes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    small = {"n_steps": 8, "nminibatches": 1, "preset": "none", "verbose": 1, "seed": 0}
    watching = ["checkpoint:every=8", "monitor:filename=episodes"]
    with rlk.make("ppo2", env="CartPole-v1", out="mine", plugins=watching, **small) as agent:
        agent.learn(8)
        assert "mine/model.zip" in capsys.readouterr().out
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        agent.learn(64, reset_num_timesteps=False)
    assert f"{tmp_path}/mine/model.zip" in capsys.readouterr().out
    assert not list(Path.cwd().iterdir())
    assert (tmp_path / "mine" / "checkpoints" / "72.zip").exists()
    assert (tmp_path / "episodes.monitor.csv").exists()


def test_a_folder_that_was_taken_by_a_relative_path_is_kept_when_the_working_folder_changes(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    folder = OwnedFolder(Path("mine"))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    folder.rlk_write_row()
    folder.release()
    assert not (tmp_path / "mine").exists()


def test_a_run_may_begin_while_others_look_at_its_folder(tmp_path, monkeypatch):
    (tmp_path / OWNER).write_text("")
    with (tmp_path / OWNER).open("rb") as looking:
        fcntl.flock(looking, fcntl.LOCK_SH)
        unlocks = SimpleNamespace(sleep=lambda _: fcntl.flock(looking, fcntl.LOCK_UN))
        monkeypatch.setattr(folder_owner, "time", unlocks)
        OwnedFolder(tmp_path).release()


def test_a_lock_that_is_let_go_of_is_not_kept_for_forks(tmp_path):
    before = len(folder_owner._locks)
    OwnedFolder(tmp_path).release()
    gc.collect()
    assert len(folder_owner._locks) == before


def test_an_agent_that_is_dropped_and_not_closed_frees_its_folder_without_a_warning(tmp_path):
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        agent = rlk.make("stand-in", kernel=KERNEL, out=str(tmp_path / "run")).learn(8)
        assert "another agent of this process" in in_use(tmp_path / "run")
        del agent
        gc.collect()
    assert [str(one.message) for one in warned] == []
    OwnedFolder(tmp_path / "run").release()
