"""A job whose rank 0 runs the tests that it is given, while the other ranks host environments."""

from __future__ import annotations

import sys

import pytest

import rlk_mpi_workers
from rlk_mpi.world import guard

if guard().ranks.rank != 0:
    sys.exit(rlk_mpi_workers.host())
sys.exit(
    pytest.main(
        ["-q", "-n", "0", "-p", "no:cacheprovider", "--import-mode=importlib", *sys.argv[1:]]
    )
)
