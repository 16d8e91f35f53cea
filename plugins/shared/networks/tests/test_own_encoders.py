"""Heads that each have an encoder of their own."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import torch
from torch import nn

from rlk_networks import Architecture, Head, Linear

IMAGE = gym.spaces.Box(0, 255, (4, 5, 2), np.uint8)


class Means(nn.Module):
    """An encoder of images with parameters: the mean of each channel, times a weight."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.rand(2))
        self.features = 2

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.mean((1, 2)) * self.weight


class Plain(Architecture):
    """Layers that return what they are given."""

    def __init__(self, shares_encoder: bool) -> None:
        self.shares_encoder = shares_encoder

    def encoder(self, observation_space: Any) -> nn.Module:
        return Means()

    def trunk(self, role: str, features: int, *, extra: int = 0, n_copies: int = 1) -> nn.Module:
        made: Any = nn.Identity()
        made.features = features + extra
        return made


def policy(shares_encoder: bool) -> Any:
    heads: Any = {
        role: lambda trunk, role=role: Head(layers := trunk(role), Linear(layers.features, 1))
        for role in ("pi", "vf")
    }
    return Plain(shares_encoder).build(IMAGE, heads)


def test_each_head_learns_with_its_own_encoder_alone() -> None:
    torch.manual_seed(0)
    apart = policy(shares_encoder=False)
    assert not list(apart.shared.parameters())
    seen = torch.randint(0, 256, (3, 4, 5, 2), dtype=torch.uint8)
    value = apart(seen, "pi")[0].sum()
    value.backward()
    assert apart.pi.trunk.encoder.weight.grad.abs().sum() > 0
    assert apart.vf.trunk.encoder.weight.grad is None
    expected = (seen.float() / 255).mean((1, 2)) * apart.pi.trunk.encoder.weight
    assert torch.allclose(apart(seen, "pi")[0], apart.pi.out(expected))
    assert isinstance(policy(shares_encoder=True).shared, Means)


def test_inputs_after_the_observation_reach_the_layers() -> None:
    made: Any = {}
    apart = Plain(shares_encoder=False)

    def critic(trunk: Any) -> nn.Module:
        made["layers"] = trunk("qf", extra=2)
        return Linear(1, 1)

    built = apart.build(IMAGE, {"qf": critic})
    seen = torch.randint(0, 256, (3, 4, 5, 2), dtype=torch.uint8)
    actions = torch.randn(3, 2)
    found = made["layers"](torch.cat((built.encode(seen), actions), 1))
    assert made["layers"].features == 4
    assert torch.equal(found[:, 2:], actions)
    assert torch.allclose(found[:, :2], made["layers"].encoder(seen.float() / 255))
