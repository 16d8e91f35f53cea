"""Which launcher started this process, and errors if MPI cannot be initialised."""

from __future__ import annotations

import importlib.util
import sys
from types import SimpleNamespace

import pytest

from rlk.errors import PlanError
from rlk_mpi import world


def test_a_launcher_is_known_by_what_it_sets():
    assert not world.launched({"SLURM_NTASKS": "4", "PATH": "/bin"})
    for name in ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"):
        assert world.launched({name: "0"})
        assert world.several_launched({name: "0"}), "it does not say how many there are"
    assert world.several_launched({"PMI_RANK": "0", "PMI_SIZE": "4"})
    assert not world.several_launched({"PMI_RANK": "0", "PMI_SIZE": "1"})
    assert not world.several_launched({"PMI_SIZE": "4"})
    assert world.launched_size({"PMI_SIZE": "4"}) == 4
    assert world.launched_size({"OMPI_COMM_WORLD_SIZE": "2"}) == 2
    assert world.launched_size({}) == 1


@pytest.fixture
def launched(monkeypatch):
    monkeypatch.setenv("PMI_RANK", "0")
    monkeypatch.setenv("PMI_SIZE", "2")
    world.world.cache_clear()
    yield
    world.world.cache_clear()


def test_without_mpi4py_it_says_what_to_install(launched, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(PlanError, match=r'needs mpi4py.*pip install "rlk-mpi\[mpi\]".* and MPICH'):
        world.world()
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(PlanError, match=r"needs mpi4py.*install Microsoft MPI .*mpiexec -n 4"):
        world.world()


def test_without_an_mpi_library_it_says_what_to_install(launched, monkeypatch):
    found = SimpleNamespace()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: found)

    class NoLibrary:
        def __getattr__(self, name):
            raise RuntimeError("cannot load MPI library\nlibmpi.so.12: not found")

    monkeypatch.setitem(sys.modules, "mpi4py", NoLibrary())
    with pytest.raises(PlanError, match=r"no MPI library \(cannot load MPI library\)"):
        world.world()


def test_processes_that_do_not_see_each_other_are_told_why(launched, monkeypatch):
    class Alone:
        class COMM_WORLD:
            Dup = staticmethod(lambda: SimpleNamespace(size=1, rank=0))

        Get_library_version = staticmethod(lambda: "Some MPI 1.0\nbuilt today")

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: SimpleNamespace())
    monkeypatch.setitem(sys.modules, "mpi4py", SimpleNamespace(MPI=Alone))
    with pytest.raises(PlanError, match=r"2 processes were launched.*Some MPI 1.0.*another MPI"):
        world.world()
