from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def one_thread(rlk_one_thread):
    """Every test here computes on one thread."""
