"""Memory that a run gives back is not fetched anew."""

import platform
from pathlib import Path

import pytest

from rlk_testing.tools.forks import ForkServer

#: How many tensors of 20 MB glibc has mapped apart, to give each back as soon as it is let go.
PROGRAM = """
import ctypes, torch
from rlk.making import make
from rlk_testing.stand_ins import stand_in_kernel

class Mallinfo(ctypes.Structure):
    _fields_ = [(f"field{n}", ctypes.c_int) for n in range(10)]

libc = ctypes.CDLL(None)
libc.mallinfo.restype = Mallinfo

def mapped_apart():  # mallinfo(3): hblks, blocks that are mapped apart
    before = libc.mallinfo().field3
    kept.append(torch.empty(20 << 20, dtype=torch.uint8))
    return libc.mallinfo().field3 - before

kept = []
without = mapped_apart()
make("stand-in", kernel=stand_in_kernel())
print(without, mapped_apart())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="it is glibc that gives it back")
def test_a_run_keeps_the_memory_of_its_tensors(rlk_forks: ForkServer, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    with rlk_forks.start(program, cwd=tmp_path) as running:
        printed, _ = running.communicate()
    assert printed.split() == ["1", "0"], printed
