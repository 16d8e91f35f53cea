"""One training with a preset, and what its last model reaches."""

from __future__ import annotations

import rlk
from rlk_evaluate.evaluate import evaluate_agent

EPISODES = 20


def after_preset(algo: str, env: str, seed: int) -> float:
    """Mean return over deterministic episodes whose seeds are apart from the training's."""
    with rlk.make(algo, env=env, preset="zoo", seed=seed, n_threads=1, device="cpu") as agent:
        agent.learn()
        found = evaluate_agent(agent, EPISODES, n_envs=10, seed=10_000).mean_return
    print(f"{algo} on {env}, seed {seed}: {found:.1f}")
    return found
