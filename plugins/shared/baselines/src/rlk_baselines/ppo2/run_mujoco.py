"""Trains PPO2 on a MuJoCo robot: `python -m rlk_baselines.ppo2.run_mujoco`."""

from __future__ import annotations

from functools import partial

from rlk_baselines.ppo2 import PPO2
from rlk_baselines.scripts import mujoco

#: Train with the given arguments, or those of the command line, and return the model.
main = partial(
    mujoco,
    PPO2,
    normalizes=True,
    policy="MlpPolicy",
    n_steps=2_048,
    nminibatches=32,
    lam=0.95,
    gamma=0.99,
    noptepochs=10,
    ent_coef=0.0,
    learning_rate=3e-4,
    cliprange=0.2,
)

if __name__ == "__main__":
    main()
