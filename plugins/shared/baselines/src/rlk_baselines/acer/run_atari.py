"""Trains ACER on an Atari game: `python -m rlk_baselines.acer.run_atari`."""

from __future__ import annotations

from functools import partial

from rlk_baselines.acer import ACER
from rlk_baselines.scripts import atari_vector

#: Train with the given arguments, or those of the command line, and return the model.
main = partial(
    atari_vector,
    ACER,
    n_envs=16,
    policies=("cnn", "lstm"),
    schedules=("constant", "linear"),
    buffer_size=5_000,
)

if __name__ == "__main__":
    main()
