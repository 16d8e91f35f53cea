"""The mean return of an agent over whole episodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlk.planning.environment import choose_environment
from rlk_testing.tools.kernels import installed

if TYPE_CHECKING:
    from rlk.agent import Agent


def mean_return(
    agent: Agent, env: Any, episodes: int = 20, seed: int = 10_000, **keywords: Any
) -> float:
    """Mean undiscounted return over episodes with deterministic actions.

    Args:
        env: as `--env` takes it. keywords: of the environment.
        seed: the first episode is reset with it, the next one with `seed + 1`, and so on.
    """
    made = choose_environment(env, installed().registries, keywords).make()
    total = 0.0
    for episode in range(episodes):
        observation, _ = made.reset(seed=seed + episode)
        state, over = None, False
        while not over:
            action, state = agent.predict(observation, state, deterministic=True)
            observation, reward, terminated, truncated, _ = made.step(action)
            total += float(reward)
            over = terminated or truncated
    made.close()
    return total / episodes
