"""TD3: one Pendulum, an update of 256 every step, of the policy every second one, 256x256 ReLU."""

from __future__ import annotations

from cases.training import Trained, agent_of, is_rlk, model_of, peer

LIBRARIES = ("rlk", "rlk+compile", "sb3", "sbx")
WARM_UP, TIMED = 400, 1_000
ENV, LAYERS, SIGMA = "Pendulum-v1", [256, 256], 0.1
SAME = {
    "batch_size": 256,
    "learning_rate": 3e-4,
    "buffer_size": 50_000,
    "learning_starts": 100,
    "train_freq": 1,
    "gradient_steps": 1,
    "policy_delay": 2,
    "target_policy_noise": 0.2,
    "target_noise_clip": 0.5,
}


def subject(library: str) -> Trained:
    if is_rlk(library):
        policy, noise = {"layers": LAYERS, "act_fun": "relu"}, f"normal-noise:sigma={SIGMA}"
        return agent_of(library, "td3", env=ENV, policy=policy, action_noise=noise, **SAME)
    import numpy as np
    from stable_baselines3.common.noise import NormalActionNoise

    model = peer(library, "TD3")(
        "MlpPolicy",
        ENV,
        seed=0,
        action_noise=NormalActionNoise(np.zeros(1), np.full(1, SIGMA)),
        device="cpu",
        policy_kwargs={"net_arch": LAYERS},
        **SAME,
    )
    return model_of(model)
