"""Trains PPO1 on an Atari game: `mpirun -n 8 python -m rlk_baselines.ppo1.run_atari`."""

from __future__ import annotations

from functools import partial

from rlk_baselines.ppo1 import PPO1
from rlk_baselines.scripts import atari

#: Train with the given arguments, or those of the command line, and return the model.
main = partial(
    atari,
    PPO1,
    timesteps_per_actorbatch=256,
    clip_param=0.2,
    entcoeff=0.01,
    optim_epochs=4,
    optim_stepsize=1e-3,
    optim_batchsize=64,
    gamma=0.99,
    lam=0.95,
    schedule="linear",
)

if __name__ == "__main__":
    main()
