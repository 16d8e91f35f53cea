"""The pytest plugin: fixtures. Loaded whenever pytest starts, it imports nothing heavy."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from rlk.agent import Agent
    from rlk.kernel import Kernel

# Failing checks of the suites then show values, wherever rlk is installed.
pytest.register_assert_rewrite(
    *[
        f"rlk.testing.{module}"
        for module in (
            "acting",
            "algorithm",
            "algorithm_state",
            "command",
            "contract",
            "decorator",
            "distribution",
            "environment",
            "finder",
            "logger",
            "noise",
            "observer",
            "off_policy",
            "on_policy",
            "optimiser",
            "policy",
            "preset",
            "replay_twin",
            "serializer",
            "storage",
            "vec_env",
            "wrapper",
        )
    ]
)


@pytest.fixture
def rlk_kernel() -> Kernel:
    """A kernel of the test's own, with everything that is installed."""
    from rlk.kernel import Kernel

    return Kernel()


@pytest.fixture
def rlk_empty_kernel() -> Kernel:
    """A kernel with nothing in it."""
    from rlk.kernel import Kernel

    return Kernel(discover=False)


@pytest.fixture
def rlk_stand_in_kernel() -> Kernel:
    """A kernel with the smallest component of every kind that a run needs (`stand_ins.py`)."""
    from rlk.testing.stand_ins import stand_in_kernel

    return stand_in_kernel()


@pytest.fixture
def rlk_make() -> Iterator[Callable[..., Agent]]:
    """`rlk.make` on one thread; every agent it made is closed when the test ends."""
    from rlk.agent import make

    with contextlib.ExitStack() as agents:

        def made(algo: str, **said: Any) -> Agent:
            return agents.enter_context(make(algo, **{"n_threads": 1, **said}))

        yield made
