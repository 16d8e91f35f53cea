"""A recurrent policy of one's own: a GRU that all heads share, behind it a layer for each head."""

import math

import torch
from torch import nn

import rlk
from rlk_networks import CUTS_SEQUENCES, Architecture, Flattened, Linear, unroll


class Gru(nn.Module):
    """Cho et al. 2014, arXiv 1406.1078; as in PyTorch, the reset gate comes after the product.

    Its state is its output, so F = S.
    """

    untraceable = CUTS_SEQUENCES  # because of `unroll`; `compile` prints the reason

    def __init__(self, observation_space, units=64):
        super().__init__()
        self.flattened = Flattened(observation_space)
        self.from_inputs = Linear(self.flattened.features, 3 * units)
        self.from_state = Linear(units, 3 * units)
        self.features = self.state_size = units

    def step(self, x, state, episode_start):
        state = state.masked_fill(episode_start[:, None], 0.0)
        return self.cell(self.from_inputs(self.flattened(x)), state)

    def forward(self, x, state, episode_start):
        return unroll(self.cell, self.from_inputs(self.flattened(x)), state, episode_start)

    def cell(self, gates, state):
        (xr, xz, xn), (hr, hz, hn) = gates.chunk(3, 1), self.from_state(state).chunk(3, 1)
        keep = torch.sigmoid(xz + hz)
        new = torch.tanh(xn + torch.sigmoid(xr + hr) * hn)
        state = keep * state + (1.0 - keep) * new
        return state, state


class Layer(nn.Module):
    """[B, inputs] to [B, features], with tanh."""

    def __init__(self, inputs, features=64):
        super().__init__()
        self.features = features
        self.linear = Linear(inputs, features, gain=math.sqrt(2.0))

    def forward(self, x):
        return torch.tanh(self.linear(x))


class GruPolicy(Architecture):
    recurrent = True

    def encoder(self, observation_space):
        return Gru(observation_space)

    def trunk(self, role, features, *, extra=0, n_copies=1):
        if n_copies > 1:
            raise ValueError("this policy has one copy of each head")
        return Layer(features + extra)


def main(timesteps=50_000):
    agent = rlk.make("ppo2", env="CartPole-v1", policy=GruPolicy, n_envs=4)
    agent.learn(timesteps)
    agent.save("gru")
    return rlk.load("gru", policy=GruPolicy)  # no file holds a class


if __name__ == "__main__":
    main()
