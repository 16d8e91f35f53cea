"""One training with a preset, and what its last model reaches."""

from __future__ import annotations

import rlk
from rlk_evaluate.evaluate import evaluate_agent
from rlk_presets.promises import promises

#: Episodes that a measure is taken over: a success is a coarser figure than a return.
EPISODES = {"mean_return": 20, "success_rate": 100}


def after_preset(algo: str, env: str, seed: int) -> float:
    """What the preset promises, over deterministic episodes whose seeds are not the training's."""
    measure = promises(algo)[env].measure
    with rlk.make(algo, env=env, preset="zoo", seed=seed, n_threads=1, device="cpu") as agent:
        agent.learn()
        reached = evaluate_agent(agent, EPISODES[measure], n_envs=10, seed=10_000)
    found: float = getattr(reached, measure)
    print(f"{algo} on {env}, seed {seed}: {measure} {found:.3f}")
    return found
