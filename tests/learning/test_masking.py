"""Rooms with doors: masks save two thirds of the samples. `pytest -m learning tests/learning`."""

from __future__ import annotations

from typing import Any

import pytest

import rlk
from rlk_evaluation.evaluate import evaluate_agent

SETTINGS = {"n_envs": 8, "n_steps": 32, "batch_size": 64, "ent_coef": 0.01, "learning_rate": 1e-3}
#: The way out takes 8 steps at best.
SOLVED, COLLECTION, LIMIT = -9.0, 256, 100_000


def timesteps_until_solved(seed: int, **settings: Any) -> int:
    """Timesteps until PPO's deterministic policy finds the way out."""
    keywords = {**SETTINGS, "seed": seed, "n_threads": 1, **settings}
    with rlk.make("ppo", env="rlk/Doors-v0", **keywords) as agent:
        while agent.num_timesteps < LIMIT:
            agent.learn(COLLECTION, reset_num_timesteps=False)
            if evaluate_agent(agent, 2, seed=100).mean_return >= SOLVED:
                break
        return agent.num_timesteps


@pytest.mark.learning
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_masking_takes_a_third_of_the_samples(seed: int) -> None:
    masked = timesteps_until_solved(seed, plugins=["action-masking"])
    every = timesteps_until_solved(seed, **{"env.refuse": False})
    print(f"ppo on rooms with doors, seed {seed}: {masked} timesteps with masks, {every} without")
    assert masked < LIMIT and 3 * masked <= every
