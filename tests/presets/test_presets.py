"""Presets reach what they promise: `pytest -m presets`, for minutes to hours each.

A preset is trained on three seeds, and its figures are added to `figures.jsonl`. What it promises
is that the mean over the seeds is nine tenths of the return of its source, or what it says itself.
"""

from __future__ import annotations

from statistics import mean

import pytest
from presets.figures import SEEDS, Figure, digest, keep

import rlk
from rlk.errors import RlkError
from rlk_evaluate.evaluate import evaluate_agent
from rlk_presets.promises import promises
from rlk_presets.zoo import Zoo, algorithms

#: A training of more takes longer than anybody waits for: its promise is its source's word.
TIMESTEPS = 5_000_000
TRIED = [
    (algo, env)
    for algo in algorithms()
    for env, promise in promises(algo).items()
    if promise.least is not None and promise.timesteps <= TIMESTEPS
]


def train(algo: str, env: str, seed: int) -> float:
    """The mean return of the last model, over 20 deterministic episodes with seeds of their own."""
    with rlk.make(algo, env=env, preset="zoo", seed=seed, n_threads=1, device="cpu") as agent:
        agent.learn()
        return evaluate_agent(agent, 20, n_envs=10, seed=10_000).mean_return


@pytest.mark.presets
@pytest.mark.timeout(6 * 3600)
@pytest.mark.parametrize(("algo", "env"), TRIED, ids="-on-".join)
def test_a_preset_reaches_what_it_promises(algo: str, env: str) -> None:
    require(algo, env)
    figures = []
    for seed in SEEDS:
        figures.append(train(algo, env, seed))
        settings = digest(algo, env)
        keep(
            Figure(
                algo=algo, env=env, seed=seed, mean_return=round(figures[-1], 2), settings=settings
            )
        )
    promise = promises(algo)[env]
    print(f"{algo} on {env}: {figures}, source {promise.source.mean_return}")
    assert promise.least is not None and mean(figures) >= promise.least, figures


def require(algo: str, env: str) -> None:
    """Skips where the environment or a component of the preset is not installed."""
    if why := Zoo().why_not(algo, env):
        pytest.skip(why)
    try:
        rlk.make(algo, env=env, n_envs=1).close()
    except RlkError as error:
        pytest.skip(str(error))
