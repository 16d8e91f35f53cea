"""Rank 1 is refused while it plans; the argument says of what its request is wrong."""

from __future__ import annotations

import os
import sys

import rlk
from rlk_mpi.world import RANK

WRONG = {
    "plugin": {"plugins": ["no-such"]},
    "setting": {"vec_env.no_such": 1},
    "environment": {"env": "./no_such.py:World"},
}
rank = next(os.environ[name] for name in RANK if name in os.environ)
wrong = WRONG[sys.argv[1]] if rank == "1" else {}
rlk.make("ppo2", **{"env": "CartPole-v1", "vec_env": "mpi-workers", **wrong})
