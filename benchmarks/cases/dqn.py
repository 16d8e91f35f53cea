"""DQN: one CartPole, an update of 32 every step, 64x64 ReLU, double and dueling off."""

from __future__ import annotations

from typing import Any

from peers import NAMES, OffPolicy, train_with

from cases._training import Subject, agent_of, environment, is_rlk, model_of, peer

LIBRARIES = ("rlk", "rlk+compile", "sb3", "sbx", *NAMES)
WARM_UP, TIMED = 1_500, 5_000
ENV, EXPLORATION, TARGET = "CartPole-v1", 0.05, 500
SHARED: dict[str, Any] = {
    "batch_size": 32,
    "learning_rate": 5e-4,
    "buffer_size": 50_000,
    "learning_starts": 1_000,
}
SAME = {
    **SHARED,
    "train_freq": 1,
    "exploration_initial_eps": EXPLORATION,
    "exploration_final_eps": EXPLORATION,
}


def subject(library: str) -> Subject:
    if is_rlk(library):
        return agent_of(
            library,
            "dqn",
            env=ENV,
            target_network_update_freq=TARGET,
            double_q=False,
            dueling=False,
            policy={"layers": [64, 64]},
            **SAME,
        )
    if library in NAMES:
        settings = {"epsilon": EXPLORATION, "target_every": TARGET, **SHARED}
        return train_with(library, "dqn", OffPolicy(env=ENV, layers=[64, 64], **settings))
    model = peer(library, "DQN")(
        "MlpPolicy",
        environment(ENV),
        seed=0,
        target_update_interval=TARGET,
        gradient_steps=1,
        device="cpu",
        policy_kwargs={"net_arch": [64, 64]},
        **SAME,
    )
    return model_of(model)
