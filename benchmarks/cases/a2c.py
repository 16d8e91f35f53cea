"""A2C: 8 CartPoles, 5 steps, 64x64 tanh, RMSProp (of rlk that of TensorFlow, else torch's)."""

from __future__ import annotations

from typing import Any

from peers import NAMES, OnPolicy, train_with

from cases._training import Subject, agent_of, environments, is_rlk, model_of, peer

LIBRARIES = ("rlk", "rlk+compile", "sb3", *NAMES)
WARM_UP, TIMED = 2_000, 40_000
ENV, N_ENVS = "CartPole-v1", 8
SAME: dict[str, Any] = {"n_steps": 5, "learning_rate": 7e-4, "vf_coef": 0.25, "ent_coef": 0.01}


def subject(library: str) -> Subject:
    if is_rlk(library):
        policy = {"layers": [64, 64], "act_fun": "tanh"}
        return agent_of(library, "a2c", env=ENV, n_envs=N_ENVS, policy=policy, **SAME)
    if library in NAMES:
        settings = OnPolicy(env=ENV, n_envs=N_ENVS, gae_lambda=1.0, **SAME)
        return train_with(library, "a2c", settings)
    model = peer(library, "A2C")(
        "MlpPolicy", environments(ENV, N_ENVS), seed=0, device="cpu", **SAME
    )
    return model_of(model)
