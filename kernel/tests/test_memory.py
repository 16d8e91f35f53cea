"""Memory that a run gives back is not fetched anew."""

import platform
from pathlib import Path

import pytest

from rlk_testing.forks import ForkServer

#: Whether glibc maps a tensor of 20 MB apart, and so gives it back as soon as it is let go.
PROGRAM = """
import ctypes, sys, torch
from rlk.making import make
from rlk_testing.stand_ins import stand_in_kernel

class Mallinfo(ctypes.Structure):
    _fields_ = [(f"field{n}", ctypes.c_int) for n in range(10)]

libc = ctypes.CDLL(None)
libc.mallinfo.restype = Mallinfo

if sys.argv[1] == "run":
    make("stand-in", kernel=stand_in_kernel())
before = libc.mallinfo().field3
tensor = torch.empty(20 << 20, dtype=torch.uint8)
print(libc.mallinfo().field3 - before)  # mallinfo(3): hblks, blocks that are mapped apart
"""


def mapped_apart(forks: ForkServer, folder: Path, after: str) -> int:
    program = folder / "program.py"
    program.write_text(PROGRAM)
    with forks.start(program, after, cwd=folder) as running:
        printed, _ = running.communicate()
    assert running.returncode == 0, printed
    return int(printed)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="it is glibc that gives it back")
def test_a_run_keeps_the_memory_of_its_tensors(rlk_forks: ForkServer, tmp_path: Path) -> None:
    assert mapped_apart(rlk_forks, tmp_path, after="nothing") == 1
    assert mapped_apart(rlk_forks, tmp_path, after="run") == 0
