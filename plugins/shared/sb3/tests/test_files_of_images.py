"""Models of Stable-Baselines3 whose networks each see images with a CNN of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from rlk_sb3 import PPO, TD3
from rlk_testing.tools.sb3_model_files import (
    OF_PPO,
    OF_TD3,
    SWING,
    Seen,
    close,
    discrete,
    mlp,
    saved,
)
from rlk_testing.tools.stable_baselines_pickles import image_box

SEEN = np.random.default_rng(0).integers(0, 256, (2, 2, 44, 44), np.uint8)
IMAGES = torch.from_numpy(SEEN)
ACTIONS = torch.tensor([[0.3], [-0.8]])


def apart(cnn: Seen, scale: float) -> Seen:
    """The same CNN, whose first weights are multiplied."""
    with torch.no_grad():
        cnn.cnn[0].weight *= scale
    return cnn


def test_actor_critics_and_targets_of_td3(tmp_path: Path) -> None:
    n: dict[str, Any] = {}
    for suffix, scale in (("", 1.0), ("_target", 0.5)):
        n[f"actor{suffix}.features_extractor"] = apart(Seen(), scale)
        n[f"critic{suffix}.features_extractor"] = apart(Seen(), scale * 1.5)
        n[f"actor{suffix}.mu"] = nn.Sequential(*mlp(512, 6, 1, activation=nn.ReLU), nn.Tanh())
        for c in (0, 1):
            n[f"critic{suffix}.qf{c}"] = mlp(513, 6, 1, activation=nn.ReLU)
    own = {
        **SWING,
        "observation_space": image_box("gymnasium.spaces.box.Box", (2, 44, 44)),
        "policy_kwargs": {"net_arch": [6]},
    }
    model = TD3.load(saved(tmp_path, "td3.policies.CnnPolicy", OF_TD3, n, **own))
    algorithm: Any = model.agent.run.algorithm
    for module, suffix in ((algorithm.policy, ""), (algorithm.target.module, "_target")):
        features = n[f"actor{suffix}.features_extractor"](IMAGES.float())
        close(module(IMAGES, "pi")[0].detach(), n[f"actor{suffix}.mu"](features))
        features = n[f"critic{suffix}.features_extractor"](IMAGES.float())
        inputs = torch.cat((features, ACTIONS), 1)
        expected = torch.stack([n[f"critic{suffix}.qf{c}"](inputs)[:, 0] for c in (0, 1)])
        close(module.qf(module.encode(IMAGES), ACTIONS).detach(), expected)


def test_policy_and_value_of_ppo(tmp_path: Path) -> None:
    n: dict[str, Any] = {
        "pi_features_extractor": Seen(),
        "vf_features_extractor": apart(Seen(), 0.5),
        "action_net": nn.Linear(512, 3),
        "value_net": nn.Linear(512, 1),
    }
    kwargs = {"policy_kwargs": {"share_features_extractor": False}}
    own = {
        "observation_space": image_box("gymnasium.spaces.box.Box", (2, 44, 44)),
        "action_space": discrete(3),
        **kwargs,
    }
    name = "common.policies.ActorCriticCnnPolicy"
    model = PPO.load(saved(tmp_path, name, OF_PPO, n, **own))
    policy: Any = model.agent.run.policy
    expected = n["action_net"](n["pi_features_extractor"](IMAGES.float()))
    close(policy(IMAGES, "pi")[0].detach(), expected)
    value = n["value_net"](n["vf_features_extractor"](IMAGES.float()))
    close(policy(IMAGES, "vf")[0].detach(), value)
