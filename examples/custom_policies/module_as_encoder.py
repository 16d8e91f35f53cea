"""A `torch.nn.Module` that observations go through first; rlk puts the heads behind it."""

import torch
from torch import nn

import rlk


class Waves(nn.Module):
    """Sines and cosines of the observation with learnt frequencies: [B, D] to [B, 2 * 24]."""

    def __init__(self, observation_space):
        super().__init__()
        self.frequencies = nn.Linear(observation_space.shape[0], 24)

    def forward(self, observation):
        x = self.frequencies(observation)
        return torch.cat([x.sin(), x.cos()], dim=1)


def main(timesteps=50_000):
    policy = {"encoder": Waves, "net_arch": [{"pi": [32], "vf": [32]}], "act_fun": nn.Mish}
    agent = rlk.make("ppo2", env="CartPole-v1", policy=policy, n_envs=4)
    agent.learn(timesteps)
    agent.save("waves")
    return rlk.load("waves", policy={"encoder": Waves, "act_fun": nn.Mish})


if __name__ == "__main__":
    main()
