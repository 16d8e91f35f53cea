"""PPO on Pong with the Nature CNN: 8 games, 128 steps, 4 epochs, minibatches of 256.

Each has its own preprocessing, which is DeepMind's, with four stacked frames of 84x84.
"""

from __future__ import annotations

from typing import Any

from cases._training import Subject, agent_of, is_rlk, model_of, peer

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
ENV = "PongNoFrameskip-v4"


def games() -> Any:
    """The peer's vector of games."""
    import ale_py
    import gymnasium as gym
    from stable_baselines3.common.env_util import make_atari_env
    from stable_baselines3.common.vec_env import VecFrameStack

    gym.register_envs(ale_py)
    unchecked = {"disable_env_checker": True}  # as `environment` makes them
    return VecFrameStack(make_atari_env(ENV, n_envs=N_ENVS, seed=0, env_kwargs=unchecked), 4)


def subject(library: str) -> Subject:
    if is_rlk(library):
        game = {"env": ENV, "plugins": ["atari:frame_stack=true"]}
        return agent_of(library, "ppo", **game, n_envs=N_ENVS, policy="cnn", **SAME)
    model = peer(library, "PPO")("CnnPolicy", games(), seed=0, device="cpu", **SAME)
    return model_of(model, N_ENVS * N_STEPS // MINIBATCH)  # it counts epochs
