"""Trains PPO2 on an Atari game: `python -m rlk_baselines.ppo2.run_atari`."""

from __future__ import annotations

from functools import partial

from rlk_baselines.ppo2 import PPO2
from rlk_baselines.scripts import atari_vector

#: Train with the given arguments, or those of the command line, and return the model.
main = partial(
    atari_vector,
    PPO2,
    n_envs=8,
    policies=("cnn", "lstm", "lnlstm", "mlp"),
    longer=1.0,
    n_steps=128,
    nminibatches=4,
    lam=0.95,
    gamma=0.99,
    noptepochs=4,
    ent_coef=0.01,
    learning_rate="lin_2.5e-4",
    cliprange="lin_0.1",
)

if __name__ == "__main__":
    main()
