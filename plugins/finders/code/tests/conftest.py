from __future__ import annotations

import sys
from pathlib import Path

import pytest


@pytest.fixture
def file(tmp_path) -> Path:
    """A file in which a test writes code."""
    return tmp_path / "mine.py"


@pytest.fixture(autouse=True)
def forgets_modules():
    """The modules of files are forgotten after each test."""
    yield
    for name in [name for name in sys.modules if name.startswith("rlk_file_")]:
        del sys.modules[name]
