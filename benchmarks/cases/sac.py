"""SAC: one Pendulum, an update of 256 every step, 256x256 ReLU, automatic entropy."""

from __future__ import annotations

from typing import Any

from peers import NAMES, OffPolicy, train_with

from cases._training import Subject, agent_of, environment, is_rlk, model_of, peer

LIBRARIES = ("rlk", "rlk+compile", "sb3", "sbx", *NAMES)
WARM_UP, TIMED = 400, 1_000
ENV, LAYERS = "Pendulum-v1", [256, 256]
SHARED: dict[str, Any] = {
    "batch_size": 256,
    "learning_rate": 3e-4,
    "buffer_size": 50_000,
    "learning_starts": 100,
}
SAME = {**SHARED, "train_freq": 1, "gradient_steps": 1, "ent_coef": "auto"}


def subject(library: str) -> Subject:
    if is_rlk(library):
        policy = {"layers": LAYERS, "act_fun": "relu"}
        return agent_of(library, "sac", env=ENV, policy=policy, **SAME)
    if library in NAMES:
        return train_with(library, "sac", OffPolicy(env=ENV, layers=LAYERS, **SHARED))
    policy_kwargs = {"net_arch": LAYERS}
    model = peer(library, "SAC")(
        "MlpPolicy", environment(ENV), seed=0, device="cpu", policy_kwargs=policy_kwargs, **SAME
    )
    return model_of(model)
