"""Trains A2C on an Atari game: `python -m rlk_baselines.a2c.run_atari`."""

from __future__ import annotations

from functools import partial

from rlk_baselines.a2c import A2C
from rlk_baselines.scripts import atari_vector

#: Train with the given arguments, or those of the command line, and return the model.
main = partial(
    atari_vector,
    A2C,
    n_envs=16,
    policies=("cnn", "lstm", "lnlstm"),
    schedules=("constant", "linear"),
)

if __name__ == "__main__":
    main()
