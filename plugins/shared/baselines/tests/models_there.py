"""Files of models as Stable Baselines 2.10 writes them."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from rlk_testing.tools.stable_baselines_pickles import box, discrete, object_there

OF_PPO2 = {
    "gamma": 0.9,
    "n_steps": 8,
    "vf_coef": 0.5,
    "ent_coef": 0.0,
    "max_grad_norm": 0.5,
    "learning_rate": 1e-3,
    "lam": 0.8,
    "nminibatches": 1,
    "noptepochs": 2,
    "cliprange": 0.1,
    "cliprange_vf": None,
    "verbose": 0,
    "n_envs": 1,
    "n_cpu_tf_sess": 1,
    "seed": None,
}
OF_A2C = {
    "gamma": 0.9,
    "n_steps": 5,
    "vf_coef": 0.25,
    "ent_coef": 0.0,
    "max_grad_norm": 0.5,
    "learning_rate": 7e-4,
    "alpha": 0.99,
    "momentum": 0.0,
    "epsilon": 1e-5,
    "n_envs": 1,
    "lr_schedule": "constant",
    "verbose": 0,
    "n_cpu_tf_sess": 1,
}
OF_DQN = {
    "gamma": 0.9,
    "learning_rate": 1e-3,
    "buffer_size": 100,
    "exploration_fraction": 0.1,
    "exploration_final_eps": 0.02,
    "exploration_initial_eps": 1.0,
    "train_freq": 1,
    "batch_size": 4,
    "double_q": True,
    "learning_starts": 8,
    "n_envs": 1,
    "n_cpu_tf_sess": 1,
    "target_network_update_freq": 5,
    "prioritized_replay": False,
    "verbose": 0,
    "prioritized_replay_alpha": 0.6,
    "prioritized_replay_beta0": 0.4,
    "param_noise": False,
}
OF_SAC = {
    "gamma": 0.9,
    "learning_rate": 1e-3,
    "buffer_size": 100,
    "learning_starts": 8,
    "train_freq": 1,
    "batch_size": 4,
    "tau": 0.005,
    "ent_coef": "auto",
    "n_envs": 1,
    "target_update_interval": 1,
    "gradient_steps": 1,
    "target_entropy": "auto",
    "verbose": 0,
    "action_noise": None,
    "random_exploration": 0.0,
    "n_cpu_tf_sess": 1,
}
OF_TD3 = {
    "gamma": 0.9,
    "learning_rate": 1e-3,
    "buffer_size": 100,
    "learning_starts": 8,
    "train_freq": 1,
    "gradient_steps": 1,
    "batch_size": 4,
    "tau": 0.005,
    "policy_delay": 2,
    "action_noise": None,
    "target_policy_noise": 0.2,
    "target_noise_clip": 0.5,
    "n_envs": 1,
    "random_exploration": 0.0,
    "verbose": 0,
    "n_cpu_tf_sess": 1,
}
CART_SPACES = {"observation_space": box([-9.0] * 4, [9.0] * 4), "action_space": discrete(2)}
PENDULUM_SPACES = {
    "observation_space": box([-1, -1, -8], [1, 1, 8]),
    "action_space": box([-2.0], [2.0]),
}


def saved(
    folder: Path,
    settings: dict[str, Any],
    parameters: dict[str, Any],
    policy: str = "stable_baselines.common.policies.MlpPolicy",
    **more: Any,
) -> Path:
    """A file as Stable Baselines 2.10 writes it."""
    data = {**settings, "policy": object_there(policy), "policy_kwargs": {}, **more}
    arrays = {f"{name}:0": np.asarray(value, np.float32) for name, value in parameters.items()}
    packed = io.BytesIO()
    np.savez(packed, **arrays)
    path = folder / "model.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data", json.dumps(data))
        archive.writestr("parameters", packed.getvalue())
        archive.writestr("parameter_list", json.dumps(list(arrays)))
    return path
