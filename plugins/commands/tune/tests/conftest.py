"""A search of a moment, in an environment whose episodes have eight steps."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import attrs
import pytest

from rlk_tune.search import Search

MATCH = "rlk_testing.environments:DiscreteMatch"
GIVEN = {"env": MATCH, "preset": "none", "total_timesteps": 64, "n_steps": 8, "n_threads": 1}
SEARCH = Search(
    algo="ppo2",
    given={**GIVEN, "nminibatches": 1, "noptepochs": 1, "policy.layers": [8]},
    plugins=[],
    searched={"learning_rate": "log:1e-4:1e-2", "gamma": "0.9,0.99"},
    seed=3,
    timesteps=64,
    trials=4,
    evaluations=4,
    episodes=2,
    sampler="random",
    pruner="none",
    space="none",
)


@pytest.fixture(autouse=True, scope="module")
def what_other_tests_left_is_no_garbage() -> None:
    """`rlk tune` looks for garbage after every trial; among all that is imported, for long."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def search() -> Callable[..., Search]:
    """The search, with other fields where they are named."""
    return lambda **fields: attrs.evolve(SEARCH, **fields)


@pytest.fixture
def typed() -> list[Any]:
    """The same search as the command line takes it."""
    settings = {**SEARCH.given, "n_threads": 1}
    for key in ("env", "preset", "total_timesteps"):
        del settings[key]
    words: list[Any] = ["tune", "--algo", "ppo2", "--env", MATCH, "--preset", "none", "--seed", 3]
    words += ["--timesteps", 64, "--trials", 4, "--evaluations", 4, "--episodes", 2]
    words += ["--sampler", "random", "--pruner", "none", "--space", "none"]
    for name, value in settings.items():
        words += ["--set", f"{name}={value}"]
    for name, text in SEARCH.searched.items():
        words += ["--search", f"{name}={text}"]
    return words
