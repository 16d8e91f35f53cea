"""TD3: one Pendulum, an update of 256 every step, of the policy every second one, 256x256 ReLU."""

from __future__ import annotations

from typing import Any

from peers import NAMES, OffPolicy, train_with

from cases._training import Subject, agent_of, environment, is_rlk, model_of, peer

LIBRARIES = ("rlk", "rlk+compile", "sb3", "sbx", *NAMES)
WARM_UP, TIMED = 400, 1_000
ENV, LAYERS, SIGMA = "Pendulum-v1", [256, 256], 0.1
SHARED: dict[str, Any] = {
    "batch_size": 256,
    "learning_rate": 3e-4,
    "buffer_size": 50_000,
    "learning_starts": 100,
    "policy_delay": 2,
    "target_policy_noise": 0.2,
    "target_noise_clip": 0.5,
}
SAME = {**SHARED, "train_freq": 1, "gradient_steps": 1}


def subject(library: str) -> Subject:
    if is_rlk(library):
        policy, noise = {"layers": LAYERS, "act_fun": "relu"}, f"normal-noise:sigma={SIGMA}"
        return agent_of(library, "td3", env=ENV, policy=policy, action_noise=noise, **SAME)
    if library in NAMES:
        settings = OffPolicy(env=ENV, layers=LAYERS, sigma=SIGMA, **SHARED)
        return train_with(library, "td3", settings)
    import numpy as np
    from stable_baselines3.common.noise import NormalActionNoise

    model = peer(library, "TD3")(
        "MlpPolicy",
        environment(ENV),
        seed=0,
        action_noise=NormalActionNoise(np.zeros(1), np.full(1, SIGMA)),
        device="cpu",
        policy_kwargs={"net_arch": LAYERS},
        **SAME,
    )
    return model_of(model)
