"""A2C on a robot of MuJoCo: `python -m rlk_baselines.a2c.run_mujoco`."""

from __future__ import annotations

from functools import partial

from rlk_baselines.a2c import A2C
from rlk_baselines.scripts import mujoco

#: Trains, with the arguments of the command line or those given, and returns the model.
main = partial(
    mujoco,
    A2C,
    normalizes=True,
    policy="MlpPolicy",
)

if __name__ == "__main__":
    main()
