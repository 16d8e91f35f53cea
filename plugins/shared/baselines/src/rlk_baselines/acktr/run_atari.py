"""Trains ACKTR on an Atari game: `python -m rlk_baselines.acktr.run_atari`."""

from __future__ import annotations

from functools import partial

from rlk_baselines.acktr import ACKTR
from rlk_baselines.scripts import atari_vector

#: Train with the given arguments, or those of the command line, and return the model.
main = partial(atari_vector, ACKTR, n_envs=32)

if __name__ == "__main__":
    main()
