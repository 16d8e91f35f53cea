"""One training with a preset, and the result of its last model."""

from __future__ import annotations

import rlk
from rlk_evaluation.evaluate import evaluate_agent
from rlk_presets.promises import promises

#: Episodes of a measure: a success rate is less precise than a return.
EPISODES = {"mean_return": 20, "success_rate": 100}


def after_preset(algo: str, env: str, seed: int) -> float:
    """The promised measure, over deterministic episodes whose seeds are not those of training.

    The update is compiled: it is the same to rounding, and these trainings take minutes to hours.
    """
    measure = promises(algo)[env].measure
    run = {"env": env, "preset": "zoo", "plugins": ["compile"], "seed": seed}
    with rlk.make(algo, **run, n_threads=1, device="cpu") as agent:
        agent.learn()
        reached = evaluate_agent(agent, EPISODES[measure], n_envs=10, seed=10_000)
    found: float = getattr(reached, measure)
    print(f"{algo} on {env}, seed {seed}: {measure} {found:.3f}")
    return found
