"""Rank 1 is refused while it plans; the argument says of what its request is wrong."""

from __future__ import annotations

import sys

from launched import PLUGIN
from trouble import RANK

import rlk

WRONG = {
    "algorithm": ("no-such", {}),
    "plugin": ("ppo2", {"plugins": ["no-such", PLUGIN]}),
    "setting": ("ppo2", {"plugins": [f"{PLUGIN}:no_such=1"]}),
}
algo, wrong = WRONG[sys.argv[1]] if RANK == 1 else ("ppo2", {})
rlk.make(algo, **{"env": "CartPole-v1", "plugins": [PLUGIN], **wrong})
