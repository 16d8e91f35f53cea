"""Environments with all kinds of spaces, infos and episode ends."""

from __future__ import annotations

import pytest

from rlk_testing import unusual_spaces


@pytest.fixture(scope="session")
def zoo():
    return unusual_spaces
