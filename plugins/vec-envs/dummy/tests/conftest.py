"""Environments of all kinds, and vectors that are closed when a test ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from rlk_dummy import DummyVecEnv
from rlk_testing.environments import unusual_spaces


@pytest.fixture(scope="session")
def zoo() -> Any:
    """Environments with all kinds of spaces, infos and episode ends."""
    return unusual_spaces


@pytest.fixture
def make() -> Iterator[Callable[..., Any]]:
    """Makes a vector, which is closed when the test ends."""
    made = []

    def make_one(*args: Any, **kwargs: Any) -> Any:
        made.append(DummyVecEnv(*args, **kwargs))
        return made[-1]

    yield make_one
    for vector in made:
        if not vector.closed:
            vector.close()
