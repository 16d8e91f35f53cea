"""Trains TRPO on an Atari game: `mpirun -n 16 python -m rlk_baselines.trpo_mpi.run_atari`."""

from __future__ import annotations

from functools import partial

from rlk_baselines.scripts import atari
from rlk_baselines.trpo_mpi import TRPO

#: Train with the given arguments, or those of the command line, and return the model.
main = partial(
    atari,
    TRPO,
    timesteps_per_batch=512,
    max_kl=0.001,
    cg_iters=10,
    cg_damping=1e-3,
    entcoeff=0.0,
    gamma=0.98,
    lam=1.0,
    vf_iters=3,
    vf_stepsize=1e-4,
)

if __name__ == "__main__":
    main()
