"""Presets reach what they promise: `pytest -m presets`, for minutes to hours each.

A preset is trained on three seeds, and its results are added to `figures.jsonl`. It promises that
the mean over the seeds is nine tenths of its source's return, or what its entry says.
"""

from __future__ import annotations

from statistics import mean

import pytest
from presets.figures import SEEDS, Figure, digest, keep
from presets.training import after_preset

from rlk_presets.promises import promises
from rlk_presets.zoo import Zoo

#: Longer trainings are not run: for them, only the source vouches for the promise.
TIMESTEPS = 5_000_000
#: Part of an environment's id -> the package that has it.
EXTRAS = {"Bullet": "pybullet_envs_gymnasium", "parking": "highway_env"}
TRIED = [
    pytest.param(algo, env, id=f"{algo}-on-{env}")
    for algo in Zoo().algorithms()
    for env, promise in promises(algo).items()
    if promise.least is not None and promise.timesteps <= TIMESTEPS
]


@pytest.mark.presets
@pytest.mark.timeout(6 * 3600)
@pytest.mark.parametrize(("algo", "env"), TRIED)
def test_a_preset_reaches_what_it_promises(algo: str, env: str) -> None:
    require(algo, env)
    promise, figures = promises(algo)[env], []
    for seed in SEEDS:
        figures.append(round(after_preset(algo, env, seed), 2))
        figure = {"settings": digest(algo, env), promise.measure: figures[-1]}
        keep(Figure(algo=algo, env=env, seed=seed, **figure))
    assert promise.least is not None and mean(figures) >= promise.least, figures


def require(algo: str, env: str) -> None:
    """Skips if a component of the preset or a package of the environment is not installed."""
    if why := Zoo().why_not(algo, env):
        pytest.skip(why)
    for part, package in EXTRAS.items():
        if part in env:
            pytest.importorskip(package, reason=f"{package} is an extra")
