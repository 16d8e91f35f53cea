"""ACKTR on a game of Atari: `python -m rlk_baselines.acktr.run_atari`."""

from __future__ import annotations

from functools import partial

from rlk_baselines.acktr import ACKTR
from rlk_baselines.scripts import atari_vector

#: Trains, with the arguments of the command line or those given, and returns the model.
main = partial(atari_vector, ACKTR, n_envs=32)

if __name__ == "__main__":
    main()
