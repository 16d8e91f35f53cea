"""PPO with action masks against MaskablePPO: 8 CartPoles whose actions are all allowed.

128 steps, 4 epochs, minibatches of 256, 64x64 tanh.
"""

from __future__ import annotations

from typing import Any

from cases._training import Subject, agent_of, environment, environments, is_rlk, model_of, peer

LIBRARIES = ("rlk", "rlk+compile", "sb3")
WARM_UP, TIMED = 2_048, 40_960
N_ENVS, N_STEPS, MINIBATCH = 8, 128, 256
SAME = {"n_steps": N_STEPS, "n_epochs": 4, "batch_size": MINIBATCH, "learning_rate": 3e-4}


def all_allowed() -> Any:
    """CartPole with the method that both libraries ask for masks."""
    import gymnasium as gym
    import numpy as np

    class AllAllowed(gym.Wrapper):
        def action_masks(self) -> Any:
            return np.ones(2, dtype=np.bool_)

    return AllAllowed(environment("CartPole-v1"))


def subject(library: str) -> Subject:
    if is_rlk(library):
        return agent_of(
            library,
            "ppo",
            env=all_allowed,
            n_envs=N_ENVS,
            policy={"layers": [64, 64], "act_fun": "tanh"},
            plugins=["action-masking"],
            **SAME,
        )
    model = peer(library, "MaskablePPO")(
        "MlpPolicy", environments(all_allowed, N_ENVS), seed=0, device="cpu", **SAME
    )
    return model_of(model, N_ENVS * N_STEPS // MINIBATCH)  # it counts epochs
