"""Recordings of random walks, and the import path of the module that has these."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rlk_expert_data import generate_expert_traj

sys.path.insert(0, str(Path(__file__).parent))
from recorded_walks import WORLDS, Recorded, Truth

#: Episodes of a recording: of one step, of several, terminated and truncated ones.
EPISODES = 17

Record = Callable[[str], tuple[Path, list[Truth]]]


@pytest.fixture(scope="session")
def record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """record(world): the file of an expert that acts at random there, and what it has met."""
    files: dict[str, tuple[Path, list[Truth]]] = {}

    def recorded(world: str) -> tuple[Path, list[Truth]]:
        if world not in files:
            path = tmp_path_factory.mktemp(world) / "expert.npz"
            env = Recorded(WORLDS[world]())
            env.action_space.seed(1)
            generate_expert_traj(
                lambda _: env.action_space.sample(), path, env, n_episodes=EPISODES, seed=3
            )
            files[world] = path, env.truth
        return files[world]

    return recorded


@pytest.fixture
def changed(record: Record, tmp_path: Path) -> Callable[..., Path]:
    """changed(world, KEY=array): a copy of its file with other arrays; None leaves a key out."""

    def copied(world: str, **arrays: Any) -> Path:
        with np.load(record(world)[0]) as file:
            found = {**file, **arrays}
        path = tmp_path / "changed.npz"
        np.savez(path, **{key: array for key, array in found.items() if array is not None})
        return path

    return copied
