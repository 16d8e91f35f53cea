"""What the tests share."""

from __future__ import annotations

import pytest

from rlk_testing.environments.counting import Counting


@pytest.fixture
def counting() -> type[Counting]:
    return Counting
