"""`pretrain` has the policy in the mode in which it learns."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

import rlk
from rlk_bc import pretrain
from rlk_expert_data import ExpertDataset, generate_expert_traj


def test_the_policy_learns_with_dropout_and_acts_without_it() -> None:
    modes = []

    class Drops(torch.nn.Module):
        features_dim = 8

        def __init__(self, observation_space: Any) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(observation_space.shape[0], 8)

        def forward(self, observation: torch.Tensor) -> torch.Tensor:
            modes.append(self.training)
            return torch.dropout(self.layer(observation), 0.5, self.training)

    data = generate_expert_traj(lambda _: 1, env="CartPole-v1", n_episodes=2, seed=0)
    dataset = ExpertDataset(traj_data=data, verbose=0, seed=0)
    with rlk.make("a2c", env="CartPole-v1", seed=0, policy={"encoder": Drops}) as agent:
        modes.clear()
        pretrain(agent, dataset, n_epochs=1)
        assert set(modes) == {True}
        agent.predict(np.zeros(4, np.float32))
        assert modes[-1] is False
