"""PPO2 on a robot of MuJoCo: `python -m rlk_baselines.ppo2.run_mujoco`."""

from __future__ import annotations

from functools import partial

from rlk_baselines.ppo2 import PPO2
from rlk_baselines.scripts import mujoco

#: Trains, with the arguments of the command line or those given, and returns the model.
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
