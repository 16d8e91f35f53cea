"""Trains by a learnt reward, then clones an expert; each rank writes what it has at the end."""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from launched import PLUGIN

import rlk

EXPERT = f"expert-{os.getpid()}.npz"  # whatever the other rank does
right = np.arange(40) % 3
np.savez(
    EXPERT,
    obs=np.eye(3, dtype=np.float32)[right],
    actions=1 + right[:, None],
    episode_starts=np.arange(40) % 8 == 0,
    episode_returns=np.full(5, 8.0),
)


def imitator(algo: str, *plugins: str, **settings: Any) -> rlk.Agent:
    fixed = {"env": "rlk_testing.environments:DiscreteMatch", "seed": 3, "n_threads": 1}
    return rlk.make(algo, plugins=[f"{PLUGIN}:check=1", *plugins], **fixed, **settings)


def bits(arrays: Any) -> int:
    return zlib.crc32(b"".join(np.asarray(array).tobytes() for array in arrays))


reward = f"gail-reward:expert_path={EXPERT},g_step=1"
with imitator("a2c", reward, n_envs=2, n_steps=8) as agent:
    agent.learn(3 * 8 * 2 * 2)
    learnt: Any = agent.run.hooks.get("gail-reward").adversary.state_dict()
    shared = [*learnt["network"].values(), *learnt["rows"].values(), agent.run.parameters.flat]
    facts: dict[str, Any] = {"gail": bits(shared), "order": learnt["order"].tolist()}
    facts |= {"seen": learnt["rows"]["count"].tolist(), "gail_timesteps": agent.num_timesteps}
with imitator("bc", expert_path=EXPERT, batch_size=16) as agent:
    agent.learn(1)
    facts |= {"bc": bits([agent.run.parameters.flat]), "bc_timesteps": agent.num_timesteps}
    facts |= {"updates": agent.run.clock.updates}
Path(os.environ["FACTS"]).write_text(json.dumps(facts))
