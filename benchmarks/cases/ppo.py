"""PPO: 8 CartPoles, 128 steps, 4 epochs, minibatches of 256, 64x64 tanh."""

from __future__ import annotations

from typing import Any

from peers import PPO_NAMES, OnPolicy, train_with

from cases._training import Subject, agent_of, environments, is_rlk, model_of, peer

LIBRARIES = ("rlk", "rlk+compile", "sb3", "sbx", *PPO_NAMES)
WARM_UP, TIMED = 2_048, 40_960
ENV, N_ENVS, N_STEPS, MINIBATCH = "CartPole-v1", 8, 128, 256
SAME: dict[str, Any] = {
    "n_steps": N_STEPS,
    "n_epochs": 4,
    "batch_size": MINIBATCH,
    "learning_rate": 3e-4,
}


def subject(library: str) -> Subject:
    if is_rlk(library):
        policy = {"layers": [64, 64], "act_fun": "tanh"}
        return agent_of(library, "ppo", env=ENV, n_envs=N_ENVS, policy=policy, **SAME)
    if library in PPO_NAMES:
        return train_with(library, "ppo", OnPolicy(env=ENV, n_envs=N_ENVS, **SAME))
    model = peer(library, "PPO")(
        "MlpPolicy", environments(ENV, N_ENVS), seed=0, device="cpu", **SAME
    )
    return model_of(model, N_ENVS * N_STEPS // MINIBATCH)  # it counts epochs
