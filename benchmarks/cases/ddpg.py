"""DDPG: one Pendulum, an update of 256 every step, 256x256 ReLU."""

from __future__ import annotations

from typing import Any

from peers import NAMES, OffPolicy, train_with

from cases._training import Subject, agent_of, environment, is_rlk, model_of, peer

LIBRARIES = ("rlk", "rlk+compile", "sb3", "sbx", *NAMES)
WARM_UP, TIMED = 400, 1_000
ENV, LAYERS, SIGMA, RATE = "Pendulum-v1", [256, 256], 0.1, 3e-4
SAME: dict[str, Any] = {
    "batch_size": 256,
    "buffer_size": 50_000,
    "learning_starts": 100,
    "tau": 0.005,
}


def subject(library: str) -> Subject:
    if is_rlk(library):
        return agent_of(
            library,
            "ddpg",
            env=ENV,
            policy={"layers": LAYERS, "act_fun": "relu"},
            action_noise=f"normal-noise:sigma={SIGMA}",
            actor_lr=RATE,
            critic_lr=RATE,
            nb_rollout_steps=1,
            nb_train_steps=1,
            **SAME,
        )
    if library in NAMES:
        settings = OffPolicy(env=ENV, layers=LAYERS, learning_rate=RATE, sigma=SIGMA, **SAME)
        return train_with(library, "ddpg", settings)
    import numpy as np
    from stable_baselines3.common.noise import NormalActionNoise

    model = peer(library, "DDPG")(
        "MlpPolicy",
        environment(ENV),
        seed=0,
        learning_rate=RATE,
        **({"qf_learning_rate": RATE} if library == "sbx" else {}),  # of its own, 1e-3
        train_freq=1,
        gradient_steps=1,
        action_noise=NormalActionNoise(np.zeros(1), np.full(1, SIGMA)),
        device="cpu",
        policy_kwargs={"net_arch": LAYERS},
        **SAME,
    )
    return model_of(model)
