"""A whole architecture: one function for what heads share, one for the layers of each."""

from torch import nn

import rlk
from rlk_networks import Architecture, flat_size


class Residual(nn.Module):
    """x + tanh(W x + b), twice, behind a linear layer: [B, inputs] to [B, features]."""

    def __init__(self, inputs, features=32):
        super().__init__()
        self.features = features
        self.first = nn.Linear(inputs, features)
        self.blocks = nn.ModuleList(nn.Linear(features, features) for _ in range(2))

    def forward(self, x):
        x = self.first(x.flatten(1))
        for block in self.blocks:
            x = x + block(x).tanh()
        return x


class ResidualPolicy(Architecture):
    """A residual encoder that all heads share; each head has a residual stack of its own."""

    def encoder(self, observation_space):
        return Residual(flat_size(observation_space))

    def trunk(self, role, features, *, extra=0, n_copies=1):
        if n_copies > 1:
            raise ValueError("this policy has one copy of each head: SAC and TD3 want two critics")
        return Residual(features + extra, 16 if role == "pi" else 32)


def main(timesteps=50_000):
    agent = rlk.make("ppo2", env="CartPole-v1", policy=ResidualPolicy, n_envs=4)
    agent.learn(timesteps)
    agent.save("residual")
    return rlk.load("residual", policy=ResidualPolicy)


if __name__ == "__main__":
    main()
