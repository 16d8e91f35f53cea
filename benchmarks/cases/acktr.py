"""ACKTR against A2C, both of rlk, with the same collections: 8 CartPoles, 20 steps, 64x64 tanh.

Both make one update of each collection, so that the ratio is what a step of K-FAC costs.
"""

from __future__ import annotations

from cases._training import Subject, agent_of

LIBRARIES = ("rlk", "rlk-a2c")
WARM_UP, TIMED = 3_200, 64_000


def subject(library: str) -> Subject:
    algo = "a2c" if library == "rlk-a2c" else "acktr"
    policy = {"layers": [64, 64], "act_fun": "tanh"}
    return agent_of(library, algo, env="CartPole-v1", n_envs=8, n_steps=20, policy=policy)
