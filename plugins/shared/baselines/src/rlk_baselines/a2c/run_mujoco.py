"""Trains A2C on a MuJoCo robot: `python -m rlk_baselines.a2c.run_mujoco`."""

from __future__ import annotations

from functools import partial

from rlk_baselines.a2c import A2C
from rlk_baselines.scripts import mujoco

#: Train with the given arguments, or those of the command line, and return the model.
main = partial(
    mujoco,
    A2C,
    normalizes=True,
    policy="MlpPolicy",
)

if __name__ == "__main__":
    main()
