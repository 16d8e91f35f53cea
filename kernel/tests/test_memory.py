"""Memory that a run gives back is not fetched anew."""

import platform
import subprocess
import sys

import pytest

#: Page faults of five rounds that make five tensors of 8 MB, of 2,000 pages each, and let them go.
CODE = """
import resource, sys, torch
from rlk.agent import make
from rlk.testing.stand_ins import stand_in_kernel

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

def rounds():
    for _ in range(5):
        tensors = [torch.ones(2 << 20) for _ in range(5)]
        del tensors

if sys.argv[1] == "run":
    make("stand-in", kernel=stand_in_kernel())
rounds()
before = faults()
rounds()
print(faults() - before)
"""


def faults(*arguments: str) -> int:
    command = [sys.executable, "-c", CODE, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="it is glibc that gives it back")
def test_a_run_keeps_the_memory_of_its_tensors() -> None:
    assert faults("run") < 1_000 < 10_000 < faults("nothing")
