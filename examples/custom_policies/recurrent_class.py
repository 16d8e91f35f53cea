"""A class of recurrent policies, passed as it is."""

import rlk
from rlk_custom_policies import LstmPolicy


class Remembers(LstmPolicy):
    """A layer of 8, a normalised LSTM, and layers for each head behind it."""

    def __init__(self, *args, n_lstm=64, **kwargs):
        net_arch = [8, "lstm", {"vf": [5, 10], "pi": [10]}]
        super().__init__(
            *args,
            n_lstm=n_lstm,
            net_arch=net_arch,
            layer_norm=True,
            feature_extraction="mlp",
            **kwargs,
        )


def main(timesteps=50_000):
    agent = rlk.make("ppo2", env="CartPole-v1", policy=Remembers, n_envs=4)
    agent.learn(timesteps)
    agent.save("remembers")
    return rlk.load("remembers", policy=Remembers)  # no file holds a class


if __name__ == "__main__":
    main()
