"""What the tests share, and where they find it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from rlk_mpi.world import RANK, SIZE
from rlk_testing.environments.counting import Counting

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def _has_no_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests are one process, whatever launcher has started pytest."""
    for name in (*RANK, *SIZE):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def counting() -> type[Counting]:
    return Counting
