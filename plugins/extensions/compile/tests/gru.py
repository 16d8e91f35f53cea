"""A recurrent policy in plain torch operations, which Dynamo can trace: a GRU without layers."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from rlk.component import Component
from rlk_networks import flat_size
from rlk_testing.stand_ins import NoLayers

UNITS = 8


class Gru(nn.Module):
    """The encoder: Cho et al. 2014, arXiv 1406.1078, with the reset gate after the product."""

    features = state_size = UNITS

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.wx = nn.Linear(inputs, 3 * UNITS)
        self.wh = nn.Linear(UNITS, 3 * UNITS)

    def step(self, x: Tensor, state: Tensor, episode_start: Tensor) -> tuple[Tensor, Tensor]:
        state = state.masked_fill(episode_start[:, None], 0.0)
        (xr, xz, xn), (hr, hz, hn) = self.wx(x.flatten(1)).chunk(3, 1), self.wh(state).chunk(3, 1)
        z = torch.sigmoid(xz + hz)
        state = (1.0 - z) * torch.tanh(xn + torch.sigmoid(xr + hr) * hn) + z * state
        return state, state

    def forward(self, x: Tensor, state: Tensor, episode_start: Tensor) -> Tensor:
        found = []
        for rows, start in zip(x.split(episode_start.shape[1]), episode_start, strict=True):
            features, state = self.step(rows, state, start)
            found.append(features)
        return torch.cat(found)


class GruPolicy(NoLayers):
    """A GRU that all heads share."""

    def encoder(self, observation_space: Any) -> nn.Module:
        return Gru(flat_size(observation_space))


gru = Component(name="gru", factory=GruPolicy, kind="policies", recurrent=True)
