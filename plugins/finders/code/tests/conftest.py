from __future__ import annotations

import sys
from pathlib import Path

import pytest


@pytest.fixture
def file(tmp_path) -> Path:
    """A file in which a test writes code; its module is forgotten afterwards."""
    path = tmp_path / "mine.py"
    yield path
    sys.modules.pop("rlk_file_mine", None)
