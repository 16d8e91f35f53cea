"""Small models in files as Stable Baselines 2.10, Stable-Baselines3 and sb3-contrib write them."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import torch

from rlk_testing.tools.stable_baselines_pickles import box, discrete, object_there, stand_in

OF_PPO2: dict[str, Any] = {
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
OF_PPO: dict[str, Any] = {
    "gamma": 0.9,
    "n_steps": 8,
    "batch_size": 8,
    "n_epochs": 2,
    "gae_lambda": 0.95,
    "learning_rate": 1e-3,
    "clip_range": 0.1,
    "clip_range_vf": None,
    "target_kl": None,
    "ent_coef": 0.0,
    "vf_coef": 0.5,
    "max_grad_norm": 0.5,
    "use_sde": False,
    "sde_sample_freq": -1,
    "verbose": 0,
    "n_envs": 1,
    "seed": None,
    "num_timesteps": 4096,
}
_SIZES = {"pi": [6, 5], "vf": [6, 5]}


SPACES = {"observation_space": box([-9.0] * 4, [9.0] * 4), "action_space": discrete(2)}


def arrays(shapes: dict[str, tuple[int, ...]]) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def of_stable_baselines(path: Path, **more: Any) -> Path:
    """A PPO2 of Stable Baselines 2.10 for CartPole."""
    shapes: dict[str, tuple[int, ...]] = {}
    for role, outputs in (("pi", 2), ("vf", 1)):
        shapes |= {f"model/{role}_fc0/w:0": (4, 6), f"model/{role}_fc0/b:0": (6,)}
        shapes |= {f"model/{role}_fc1/w:0": (6, 5), f"model/{role}_fc1/b:0": (5,)}
        shapes |= {f"model/{role}/w:0": (5, outputs), f"model/{role}/b:0": (outputs,)}
    shapes |= {"model/q/w:0": (5, 2), "model/q/b:0": (2,)}
    written = io.BytesIO()
    np.savez(written, **arrays(shapes))
    data = {
        **OF_PPO2,
        **SPACES,
        "policy": object_there("stable_baselines.common.policies.MlpPolicy"),
        "policy_kwargs": {"net_arch": [_SIZES]},
        **more,
    }
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data", json.dumps(data))
        archive.writestr("parameters", written.getvalue())
        archive.writestr("parameter_list", json.dumps(list(shapes)))
    return path


def of_stable_baselines3(
    path: Path, inputs: int = 4, further: dict[str, tuple[int, ...]] | None = None, **more: Any
) -> Path:
    """A PPO of Stable-Baselines3 for CartPole.

    Args:
        path: of the file.
        inputs: of the first hidden layers.
        further: shapes of further parameters.
        more: entries of the file, in addition to those below or instead of them.
    """
    shapes: dict[str, tuple[int, ...]] = {"action_net.weight": (2, 5), "action_net.bias": (2,)}
    shapes |= further or {}
    shapes |= {"value_net.weight": (1, 5), "value_net.bias": (1,)}
    for role in ("policy", "value"):
        for number, before, after in ((0, inputs, 6), (2, 6, 5)):
            layer = f"mlp_extractor.{role}_net.{number}"
            shapes |= {f"{layer}.weight": (after, before), f"{layer}.bias": (after,)}
    data = {
        **OF_PPO,
        **SPACES,
        "policy_class": object_there("stable_baselines3.common.policies.ActorCriticPolicy"),
        "policy_kwargs": {"net_arch": _SIZES},
        **more,
    }
    written = io.BytesIO()
    torch.save({name: torch.from_numpy(one) for name, one in arrays(shapes).items()}, written)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data", json.dumps(data))
        archive.writestr("policy.pth", written.getvalue())
        archive.writestr("_stable_baselines3_version", "2.3.0")
    return path


def of_masks(path: Path) -> Path:
    """A MaskablePPO of sb3-contrib."""
    policy = "sb3_contrib.common.maskable.policies.MaskableActorCriticPolicy"
    return of_stable_baselines3(path, policy_class=object_there(policy))


def of_lstms(path: Path) -> Path:
    """A RecurrentPPO of sb3-contrib, with two LSTMs of three units."""
    shapes: dict[str, tuple[int, ...]] = {}
    for lstm in ("lstm_actor", "lstm_critic"):
        shapes |= {f"{lstm}.weight_ih_l0": (12, 4), f"{lstm}.weight_hh_l0": (12, 3)}
        shapes |= {f"{lstm}.bias_ih_l0": (12,), f"{lstm}.bias_hh_l0": (12,)}
    policy = "sb3_contrib.common.recurrent.policies.RecurrentActorCriticPolicy"
    kwargs = {"net_arch": _SIZES, "lstm_hidden_size": 3}
    own = {"policy_class": object_there(policy), "policy_kwargs": kwargs}
    return of_stable_baselines3(path, 3, shapes, **own)


def normalize_there(path: Path, mean: Any, var: Any, **more: Any) -> Path:
    """The file of a VecNormalize of Stable-Baselines3."""
    where = "stable_baselines3.common"
    with (
        stand_in(f"{where}.running_mean_std.RunningMeanStd") as statistics,
        stand_in(f"{where}.vec_env.vec_normalize.VecNormalize") as kind,
    ):
        of_observations, of_returns, made = statistics(), statistics(), kind()
        vars(of_observations).update(mean=np.array(mean), var=np.array(var), count=100.0)
        vars(of_returns).update(mean=np.array(3.0), var=np.array(25.0), count=100.0)
        numbers = {"clip_obs": 5.0, "clip_reward": 10.0, "gamma": 0.97, "epsilon": 1e-8}
        flags = {"training": True, "norm_obs": True, "norm_reward": True}
        vars(made).update(obs_rms=of_observations, ret_rms=of_returns, **numbers, **flags)
        vars(made).update(more)
        path.write_bytes(pickle.dumps(made, protocol=4))
    return path
