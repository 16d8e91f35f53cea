"""Environments of all kinds, and vectors of one group and of several."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rlk_testing import unusual_spaces
from rlk_testing.examples import defined_in
from rlk_vector_environments.group_vec_env import GroupVecEnv

EXAMPLE = defined_in(Path(__file__).parents[1] / "README.md", "class ThreadsVecEnv")


@pytest.fixture(scope="session")
def zoo() -> Any:
    """Environments with all kinds of spaces, infos and episode ends."""
    return unusual_spaces


@pytest.fixture(params=["one group", "several groups"])
def make(request: pytest.FixtureRequest) -> Iterator[Callable[..., Any]]:
    """Makes a vector in this process, which is closed when the test ends."""
    kind = GroupVecEnv if request.param == "one group" else EXAMPLE["ThreadsVecEnv"]
    made = []

    def make_one(*args: Any, **kwargs: Any) -> Any:
        made.append(kind(*args, **kwargs))
        return made[-1]

    yield make_one
    for vector in made:
        if not vector.closed:
            vector.close()
