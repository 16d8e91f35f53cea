"""Environments with everything that a space, an info or an episode can be."""

from __future__ import annotations

import pytest

from rlk_testing import unusual_spaces


@pytest.fixture(scope="session")
def zoo():
    return unusual_spaces
