"""PPO on Pong with the Nature CNN: 8 games, 128 steps, 4 epochs, minibatches of 256.

Both see the same environment: DeepMind's preprocessing and four stacked frames, uint8 [4, 84, 84].
"""

from __future__ import annotations

from typing import Any

from cases.training import Trained, agent_of, environments, is_rlk, model_of, peer

LIBRARIES = ("rlk", "rlk+compile", "sb3")
WARM_UP, TIMED = 1_024, 2_048
N_ENVS, N_STEPS, MINIBATCH = 8, 128, 256
SAME = {
    "n_steps": N_STEPS,
    "n_epochs": 4,
    "batch_size": MINIBATCH,
    "learning_rate": 2.5e-4,
    "clip_range": 0.1,
    "ent_coef": 0.01,
}


def pong() -> Any:
    import ale_py
    import gymnasium as gym

    gym.register_envs(ale_py)
    game = gym.make("ALE/Pong-v5", frameskip=1, repeat_action_probability=0.0)
    return gym.wrappers.FrameStackObservation(gym.wrappers.AtariPreprocessing(game), 4)


def subject(library: str) -> Trained:
    if is_rlk(library):
        return agent_of(library, "ppo", env=pong, n_envs=N_ENVS, policy="cnn", **SAME)
    model = peer(library, "PPO")(
        "CnnPolicy", environments(pong, N_ENVS), seed=0, device="cpu", **SAME
    )
    return model_of(model, N_ENVS * N_STEPS // MINIBATCH)  # it counts epochs
