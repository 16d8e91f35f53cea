"""Bit flipping with 15 bits, which needs hindsight. `pytest -m learning tests/learning`."""

from __future__ import annotations

from typing import Any

import pytest

import rlk
from rlk_evaluation.evaluate import evaluate_agent

pytestmark = [pytest.mark.learning, pytest.mark.timeout(1800)]
BITS = {"env": "rlk/BitFlipping-v0", "env.n_bits": 15, "preset": "zoo"}


def success_rate(seed: int, **settings: Any) -> float:
    """Over 100 deterministic episodes, after a run of its preset."""
    with rlk.make("dqn", seed=seed, **{**BITS, **settings}) as agent:
        agent.learn()
        found = evaluate_agent(agent, 100, seed=100 + seed).success_rate
    assert found is not None
    return found


@pytest.mark.parametrize("random_goal", [False, True])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_dqn_with_hindsight_reaches_the_goal(seed: int, random_goal: bool) -> None:
    settings = {"plugins": ["hindsight-replay"], "env.random_goal": random_goal}
    assert success_rate(seed, **settings) >= 0.95


@pytest.mark.parametrize("random_goal", [False, True])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_dqn_without_hindsight_does_not(seed: int, random_goal: bool) -> None:
    settings = {"plugins": ["no:hindsight-replay"], "env.random_goal": random_goal}
    assert success_rate(seed, **settings) <= 0.10


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_so_it_does_with_priorities_and_n_step_returns_as_well(seed: int) -> None:
    plugins = ["hindsight-replay", "prioritized-replay", "n-step"]
    assert success_rate(seed, plugins=plugins) >= 0.95
