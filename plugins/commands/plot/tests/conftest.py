"""Run folders made by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

HEADER = '#{"t_start": 1.0, "env_id": "CartPole-v1"}\nr,l,t\n'


def make_run(
    folder: Path,
    episodes: list[tuple[float, int, float]],
    *,
    seed: int = 1,
    rate: float = 0.1,
    evaluated: dict[int, list[float]] | None = None,
    watcher: int = 10,
    algo: str = "dqn",
    env: str = "CartPole-v1",
    timesteps: int | None = None,
    gravity: float | None = None,
) -> Path:
    """A run folder as `rlk run` leaves it, as far as plots look at it."""
    folder.mkdir(parents=True, exist_ok=True)
    components: list[dict[str, Any]] = [
        {"role": "algorithm", "name": algo, "settings": {"learning_rate": rate}},
        {"role": "policy", "name": "mlp", "settings": {"layers": [64]}},
        {"role": "callback", "name": "evaluation", "settings": {"every": watcher}},
    ]
    run = {"n_envs": 1, "seed": seed} | ({"total_timesteps": timesteps} if timesteps else {})
    where = {"name": env} | ({"kwargs": {"gravity": gravity}} if gravity else {})
    plan = {"run": run, "env": where, "components": components}
    (folder / "plan.json").write_text(json.dumps(plan))
    rows = "".join(f"{r},{length},{t}\n" for r, length, t in episodes)
    (folder / "monitor.csv").write_text(HEADER + rows)
    if evaluated is not None:
        results = np.array(list(evaluated.values()))
        np.savez(folder / "evaluations.npz", timesteps=list(evaluated), results=results)
    return folder


@pytest.fixture
def run_folder() -> Callable[..., Path]:
    """`make_run`, for tests of whichever file."""
    return make_run
