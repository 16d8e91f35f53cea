"""Trains PPO1 on a MuJoCo robot: `python -m rlk_baselines.ppo1.run_mujoco`."""

from __future__ import annotations

from functools import partial

from rlk_baselines.ppo1 import PPO1
from rlk_baselines.scripts import mujoco

#: Train with the given arguments, or those of the command line, and return the model.
main = partial(
    mujoco,
    PPO1,
    policy="MlpPolicy",
    timesteps_per_actorbatch=2_048,
    clip_param=0.2,
    entcoeff=0.0,
    optim_epochs=10,
    optim_stepsize=3e-4,
    optim_batchsize=64,
    gamma=0.99,
    lam=0.95,
    schedule="linear",
)

if __name__ == "__main__":
    main()
