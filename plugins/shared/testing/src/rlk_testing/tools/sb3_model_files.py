"""Files of models as Stable-Baselines3 writes them, with networks built directly in torch."""

from __future__ import annotations

import io
import itertools
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from rlk_testing.tools.stable_baselines_pickles import box, discrete, object_there, packed, stand_in

PENDULUM = torch.tensor([[1.0, 0.0, 0.5], [-1.0, 0.0, -2.0]])
OF_ALL = {"verbose": 0, "n_envs": 1, "seed": None, "learning_rate": 1e-3, "gamma": 0.9}
OF_A2C = OF_ALL | {
    "n_steps": 5,
    "gae_lambda": 1.0,
    "ent_coef": 0.0,
    "vf_coef": 0.5,
    "max_grad_norm": 0.5,
    "use_sde": False,
    "sde_sample_freq": -1,
    "normalize_advantage": False,
    "rollout_buffer_kwargs": {},
}
OF_PPO = OF_A2C | {
    "n_steps": 8,
    "batch_size": 8,
    "n_epochs": 2,
    "clip_range": 0.1,
    "clip_range_vf": None,
    "gae_lambda": 0.95,
    "target_kl": None,
}
OF_REPLAY: dict[str, Any] = OF_ALL | {
    "buffer_size": 100,
    "learning_starts": 8,
    "batch_size": 4,
    "tau": 0.005,
    "gradient_steps": 1,
    "train_freq": 4,
    "action_noise": None,
    "replay_buffer_kwargs": {},
}
OF_DQN = OF_REPLAY | {
    "tau": 1.0,
    "target_update_interval": 10,
    "exploration_fraction": 0.1,
    "max_grad_norm": 10,
    "exploration_initial_eps": 1.0,
    "exploration_final_eps": 0.05,
}
OF_SAC = OF_REPLAY | {
    "ent_coef": "auto",
    "target_update_interval": 1,
    "target_entropy": -1.0,
    "use_sde": False,
    "sde_sample_freq": -1,
    "use_sde_at_warmup": False,
}
OF_TD3 = OF_REPLAY | {"policy_delay": 2, "target_policy_noise": 0.2, "target_noise_clip": 0.5}
CART = {"observation_space": box([-9.0] * 4, [9.0] * 4), "action_space": discrete(2)}
SWING = {
    "observation_space": box([-1, -1, -8], [1, 1, 8]),
    "action_space": box([-2.0], [2.0]),
}


def saved(
    folder: Path,
    policy: str,
    settings: dict[str, Any],
    networks: dict[str, nn.Module | torch.Tensor],
    variables: dict[str, torch.Tensor] | None = None,
    **more: Any,
) -> Path:
    """A file as Stable-Baselines3 writes it."""
    weights: dict[str, torch.Tensor] = {}
    for name, one in networks.items():
        if isinstance(one, torch.Tensor):
            weights[name] = one
        else:
            weights |= {f"{name}.{key}": value for key, value in one.state_dict().items()}
    data = {**settings, "policy_class": object_there(f"stable_baselines3.{policy}")}
    data |= {"policy_kwargs": {}, **more}
    path = folder / "model.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data", json.dumps(data))
        for entry, tensors in (
            ("policy.pth", weights),
            ("pytorch_variables.pth", variables or {}),
        ):
            written = io.BytesIO()
            torch.save(tensors, written)
            archive.writestr(entry, written.getvalue())
        archive.writestr("_stable_baselines3_version", "2.3.0")
    return path


def of_contrib(
    folder: Path, policy: str, n: dict[str, Any], settings: Any = OF_PPO, **more: Any
) -> Path:
    """A file of sb3-contrib."""
    return saved(folder, "", settings, n, policy_class=object_there(policy), **more)


def mlp(*sizes: int, activation: type[nn.Module] = nn.Tanh, ends: bool = False) -> nn.Sequential:
    """Linear layers, each with an activation; an output layer has none."""
    torch.manual_seed(sum(sizes))
    parts: list[nn.Module] = []
    for before, after in itertools.pairwise(sizes):
        parts += [nn.Linear(before, after), activation()]
    return nn.Sequential(*(parts if ends else parts[:-1]))


def actor_critic(inputs: int, outputs: int) -> dict[str, Any]:
    """The networks of A2C and PPO with the layers `SIZES`."""
    return {
        "mlp_extractor.policy_net": mlp(inputs, 6, 5, ends=True),
        "mlp_extractor.value_net": mlp(inputs, 7, 4, ends=True),
        "action_net": nn.Linear(5, outputs),
        "value_net": nn.Linear(4, 1),
    }


SIZES = {"policy_kwargs": {"net_arch": {"pi": [6, 5], "vf": [7, 4]}}}


class Seen(nn.Module):
    """Stable-Baselines3's Nature CNN, for images of 44x44 pixels."""

    def __init__(self, channels: int = 2, features: int = 512) -> None:
        super().__init__()
        torch.manual_seed(channels)
        convolutions = [
            nn.Conv2d(channels, 32, 8, 4),
            nn.Conv2d(32, 64, 4, 2),
            nn.Conv2d(64, 64, 3, 1),
        ]
        parts = [part for one in convolutions for part in (one, nn.ReLU())]
        self.cnn = nn.Sequential(*parts, nn.Flatten())
        self.linear = nn.Sequential(nn.Linear(256, features), nn.ReLU())

    def forward(self, images: torch.Tensor) -> Any:
        return self.linear(self.cnn(images / 255.0))


def critics(hidden: int = 6, n_critics: int = 2) -> dict[str, Any]:
    """Critics of four numbers, observation and action, and their targets."""
    found: dict[str, Any] = {
        f"critic{suffix}.qf{c}": mlp(4, hidden, 5, 1, activation=nn.ReLU)
        for suffix in ("", "_target")
        for c in range(n_critics)
    }
    for number, one in enumerate(found.values()):
        nn.init.normal_(one[0].weight, generator=torch.Generator().manual_seed(number))
    return found


def dict_there(parts: dict[str, tuple[Any, Any, Any]]) -> dict[str, str]:
    """A Dict of Boxes: low, high and dtype of each."""
    with (
        stand_in("gymnasium.spaces.dict.Dict") as made,
        stand_in("gymnasium.spaces.box.Box") as part,
    ):
        value: Any = made()
        value.spaces = {key: part() for key in parts}
        for key, (low, high, dtype) in parts.items():
            low, high = np.asarray(low, dtype), np.asarray(high, dtype)
            vars(value.spaces[key]).update(low=low, high=high, dtype=low.dtype)
        return packed(value)


def image_of(channels: int) -> tuple[Any, Any, Any]:
    """The Box of an image for `Seen`, as `dict_there` takes it."""
    return np.zeros((channels, 44, 44)), np.full((channels, 44, 44), 255), np.uint8


def close(found: Any, expected: torch.Tensor) -> None:
    """Both are equal, up to what sums in another order may change."""
    np.testing.assert_allclose(found, expected.detach().numpy(), rtol=1e-4, atol=1e-6)
