"""A policy that is registered, and chosen by its name from then on."""

import rlk
from rlk_custom_policies import FeedForwardPolicy, register_policy


class Deep(FeedForwardPolicy):
    """Three layers for the policy, two for the value, and none that both share."""

    def __init__(self, *args, **kwargs):
        net_arch = [{"pi": [128, 128, 128], "vf": [32, 32]}]
        super().__init__(*args, **kwargs, net_arch=net_arch, feature_extraction="mlp")


def main(timesteps=50_000):
    register_policy("Deep", Deep)
    agent = rlk.make("ppo2", env="CartPole-v1", policy="Deep", n_envs=4)
    agent.learn(timesteps)
    agent.save("deep")
    return rlk.load("deep")  # the name says what it is, as long as the program registers it


if __name__ == "__main__":
    main()
