"""A full disk: training continues, one message is printed, and what could be kept is kept.

The disk is full for a process that may not enlarge any file (RLIMIT_FSIZE): writing then raises an
OSError as on a full disk, whoever writes.
"""

from __future__ import annotations

import csv

import pytest

from rlk.files import replacing
from rlk.growing_file import GrowingFile
from rlk.registry.kernel import default_kernel
from rlk.saving import saved_files

resource = pytest.importorskip("resource", reason="limits of POSIX")

#: A plugin that fills the disk after so many timesteps, and may empty it again. Meanwhile output
#: goes through a pipe, because it is read from a file.
DISK = """
import atexit, os, resource
from rlk.hookspecs import hookimpl

HARD = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
PRINTED, PIPE = os.pipe()
OUTPUT = os.dup(1)

def is_full(full):
    resource.setrlimit(resource.RLIMIT_FSIZE, (0 if full else HARD, HARD))

@atexit.register
def show():
    is_full(False)
    os.write(OUTPUT, os.read(PRINTED, 1 << 16))

os.dup2(PIPE, 1), os.dup2(PIPE, 2)
is_full(FULL_FROM == 0)

class Fills:
    @hookimpl
    def rlk_rollout_start(self, run):
        is_full(FULL_FROM <= run.timesteps < FULL_TO)
"""
RUN = (
    *("run", "--algo", "ppo2", "--preset", "none", "--seed", "1", "--timesteps", "160"),
    *("--set", "n_steps=16", "--set", "nminibatches=1", "--set", "n_threads=1", "--out", "there"),
    *("--plugin", "checkpoint:every=32,keep=none", "--plugin", "./disk.py:Fills"),
    *("--plugin", "tensorboard", "--plugin", "evaluation:every=64,episodes=1"),
)


@pytest.fixture
def run(rlk_forks, tmp_path):
    """run(full_from, full_to): the exit code and the output of a run on such a disk."""

    def ended(full_from, full_to, *arguments):
        times = DISK.replace("FULL_FROM", str(full_from)).replace("FULL_TO", str(full_to))
        (tmp_path / "disk.py").write_text(times)
        with rlk_forks.start("-m", "rlk", *RUN, *arguments, cwd=tmp_path) as running:
            printed, _ = running.communicate(timeout=120)
        return running.returncode, printed

    return ended


def checkpoints(out):
    return sorted(int(path.stem) for path in (out / "checkpoints").iterdir())


def rows(path):
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines))


def test_training_continues_to_its_end_on_a_full_disk_and_keeps_what_was_written(run, tmp_path):
    code, printed = run(80, 10**9)
    out = tmp_path / "there"
    assert code == 1
    assert "done: 160 timesteps" in printed
    assert "This may be a fault" not in printed and "Traceback" not in printed
    missing = printed[printed.index("not everything could be written:") :]
    for writer in ("checkpoint", "model.zip", "csv", "monitor", "tensorboard", "evaluations.npz"):
        assert f"  {writer}, " in missing
        assert printed.count(f"a write failed ({writer})") == 1
    assert checkpoints(out) == [32, 64]
    assert saved_files.read(out / "best_model.zip", default_kernel())["clock"]["timesteps"] == 64
    assert list(out.rglob(".*")) == [], "something half written is left"


def test_when_there_is_room_again_no_row_is_missing(run, tmp_path):
    code, printed = run(48, 128)
    out = tmp_path / "there"
    assert code == 1, "some checkpoints are missing, although the last one is there"
    missing = printed[printed.index("not everything could be written:") :]
    assert "checkpoint, 3 times" in missing
    for written_later in ("model.zip", "csv", "monitor", "tensorboard", "evaluations.npz"):
        assert f"  {written_later}, " not in missing
    assert checkpoints(out) == [32, 160]
    assert [float(row["time/total_timesteps"]) for row in rows(out / "progress.csv")] == [
        16.0 * (iteration + 1) for iteration in range(10)
    ]
    episodes = rows(out / "monitor.csv")
    state = saved_files.read(out / "checkpoints" / "160.zip", default_kernel())
    assert len(episodes) == state["clock"]["episodes"] > 2
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(out), size_guidance={"scalars": 0}).Reload()
    assert [event.step for event in events.Scalars("train/loss")] == list(range(16, 161, 16))


def test_a_disk_that_is_full_at_the_start_leaves_no_empty_files(run, tmp_path):
    code, printed = run(0, 10**9)
    assert code == 1
    assert "plan.json cannot be written: File too large" in printed, printed
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and not path.stat().st_size]


def test_a_write_to_a_growing_file_adds_all_or_nothing(tmp_path):
    path = tmp_path / "rows"
    path.write_bytes(b"one\n")
    rows = GrowingFile(path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (6, hard))
    try:
        with pytest.raises(OSError, match="too large"):
            rows.write(b"two\n", b"")
        with pytest.raises(OSError, match="too large"), replacing(path) as file:
            file.write(b"something longer")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == b"one\n"
    rows.write(b"two\n", b"")
    assert path.read_bytes() == b"one\ntwo\n"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_cannot_be_written_is_named_as_the_user_did(tmp_path):
    path = tmp_path / ("x" * 300)
    with pytest.raises(OSError, match="too long") as caught, replacing(path):
        pass
    assert caught.value.filename == str(path)
