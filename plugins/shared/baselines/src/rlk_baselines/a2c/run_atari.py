"""A2C on a game of Atari: `python -m rlk_baselines.a2c.run_atari`."""

from __future__ import annotations

from functools import partial

from rlk_baselines.a2c import A2C
from rlk_baselines.scripts import atari_vector

#: Trains, with the arguments of the command line or those given, and returns the model.
main = partial(
    atari_vector,
    A2C,
    n_envs=16,
    policies=("cnn", "lstm", "lnlstm"),
    schedules=("constant", "linear"),
)

if __name__ == "__main__":
    main()
