"""Trains TRPO on a MuJoCo robot: `python -m rlk_baselines.trpo_mpi.run_mujoco`."""

from __future__ import annotations

from functools import partial

from rlk_baselines.scripts import mujoco
from rlk_baselines.trpo_mpi import TRPO

#: Train with the given arguments, or those of the command line, and return the model.
main = partial(
    mujoco,
    TRPO,
    policy="MlpPolicy",
    timesteps_per_batch=1_024,
    max_kl=0.01,
    cg_iters=10,
    cg_damping=0.1,
    entcoeff=0.0,
    gamma=0.99,
    lam=0.98,
    vf_iters=5,
    vf_stepsize=1e-3,
)

if __name__ == "__main__":
    main()
