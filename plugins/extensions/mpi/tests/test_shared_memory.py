"""Ranks have room for shared memory, or an error says so before MPI is initialised."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib import metadata
from types import SimpleNamespace

import pytest

from rlk.errors import PlanError
from rlk_mpi import shared_memory
from rlk_testing.tools.launched import HAS_MPI, MPIRUN

HAS_MPICH = HAS_MPI and any(metadata.distributions(name="mpich"))


@pytest.fixture
def free(monkeypatch, tmp_path):
    """free(BYTES): so many are free from now on."""
    monkeypatch.setattr(shared_memory, "_PLACE", tmp_path)

    def set_free(number):
        found = SimpleNamespace(f_bavail=number // 1000, f_frsize=1000)
        monkeypatch.setattr(shared_memory.os, "statvfs", lambda place: found)

    return set_free


def test_as_many_ranks_as_have_room_for_all_get_all(free):
    free(11_000_000)
    environment = {"MPI_LOCALNRANKS": "2"}
    shared_memory.make_room(environment)
    assert environment == {"MPI_LOCALNRANKS": "2"}


def test_with_room_for_mpich_alone_ucx_does_without_unless_it_is_told_otherwise(free):
    free(64_000_000)
    for told, expected in (({}, "^posix"), ({"UCX_TLS": "tcp,self"}, "tcp,self")):
        environment = {"MPI_LOCALNRANKS": "16", **told}
        shared_memory.make_room(environment)
        assert environment["UCX_TLS"] == expected
    free(10_000_000)  # each alone would have room, both have not
    environment = {"MPI_LOCALNRANKS": "2"}
    shared_memory.make_room(environment)
    assert environment["UCX_TLS"] == "^posix"


def test_without_room_it_is_refused_and_other_launchers_are_not_judged(free):
    free(2_000_000)
    with pytest.raises(PlanError, match=r"has 2\.0 MB free, and MPICH takes 2\.1 MB of it for 2"):
        shared_memory.make_room({"MPI_LOCALNRANKS": "2"})
    shared_memory.make_room({"OMPI_COMM_WORLD_LOCAL_SIZE": "2"})


#: A /dev/shm of its own, in which the ranks are started and what they have left is listed.
IN_A_SMALL_ONE = """
mount -t tmpfs -o size=$0 none /dev/shm || exit 77
"$@"; code=$?
echo "left: $(ls /dev/shm)"
exit $code
"""


@pytest.mark.parametrize(("size", "code"), [("1m", 2), ("6m", 0)])
def test_ranks_in_a_full_or_nearly_full_memory(tmp_path, size, code):
    if not HAS_MPICH or shutil.which("unshare") is None:
        pytest.skip("MPICH's wheel is not installed, or this system has no namespaces")
    enter = "import rlk_mpi.extension as it; it.LAUNCH.enter()"
    ranks = [MPIRUN, "-n", "2", sys.executable, "-c", enter]
    if code:
        ranks = [*ranks[:-2], "-m", "rlk", "run", "--algo", "ppo2", "--plugin", "mpi"]
    small = ["unshare", "--map-root-user", "--mount", "sh", "-c", IN_A_SMALL_ONE, size]
    done = subprocess.run(
        [*small, *map(str, ranks)], capture_output=True, text=True, cwd=tmp_path, timeout=120
    )
    if done.returncode == 77 or done.stderr.startswith("unshare:"):
        pytest.skip("this user may not mount anything, even in a namespace")
    printed = done.stdout + done.stderr
    assert done.returncode == code and done.stdout.endswith("left: \n"), printed
    assert ("MB free, and MPICH takes" in printed) == (code == 2), printed


def test_other_files_of_the_process_may_have_any_name(monkeypatch, tmp_path):
    (tmp_path / "maps").write_bytes(b"7f0 r-xp 1 /lib/\xe4.so\n7f1 rw-s 2 /dev/shm/mpich_shm_a1\n")
    monkeypatch.setattr(shared_memory, "_OWN", tmp_path / "maps")
    assert shared_memory.named() == {"/dev/shm/mpich_shm_a1"}
