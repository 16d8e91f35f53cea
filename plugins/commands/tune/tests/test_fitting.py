"""Values that would make some trials longer than others, or leave them without an update."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from rlk.planning.spec import make_spec
from rlk_tune.begin import new_search
from rlk_tune.ranges import parse_searches

FIELDS = {"trials": 1, "evaluations": 2, "episodes": 1, "sampler": "random", "pruner": "none"}


@pytest.mark.parametrize(
    ("algo", "given", "name", "left", "said"),
    [
        (  # 1,024 timesteps are 2 % more than asked
            "ppo2",
            {"n_envs": 8, "total_timesteps": 1000},
            "n_steps",
            "32,64,128",
            "n_steps=256,512,1024,2048 (a trial would train 2,048 timesteps, not 1,000)",
        ),
        (
            "ppo1",
            {"n_envs": 1, "total_timesteps": 2000},
            "timesteps_per_actorbatch",
            "256,512,1024,2048",
            "timesteps_per_actorbatch=4096 (a trial would train 4,096 timesteps, not 2,000)",
        ),
        (
            "trpo",
            {"n_envs": 2, "total_timesteps": 2000},
            "timesteps_per_batch",
            "512,1024,2048",
            "timesteps_per_batch=4096 (a trial would train 4,096 timesteps, not 2,000)",
        ),
        (
            "dqn",
            {"total_timesteps": 5000},
            "learning_starts",
            "100,1000",
            "learning_starts=5000 (a trial would end before its first update)",
        ),
    ],
)
def test_values_that_do_not_fit_into_the_timesteps_are_not_searched(
    algo: str, given: Mapping[str, Any], name: str, left: str, said: str
) -> None:
    spec = make_spec(algo, {"env": "CartPole-v1", "preset": "none", **given})
    search, notes = new_search(spec, {}, "auto", FIELDS)
    assert search.searched[name] == left
    assert notes == [f"not searched: {said}"]


def test_typed_values_that_do_not_fit_are_searched_and_said() -> None:
    given = {"env": "CartPole-v1", "preset": "none", "n_envs": 8, "total_timesteps": 1000}
    typed = parse_searches(["n_steps=64,2048", "gamma=0.9,0.99"])
    search, notes = new_search(make_spec("ppo2", given), typed, "auto", FIELDS)
    assert search.searched["n_steps"] == "64,2048"
    said = "--search n_steps: with 2048, a trial would train 16,384 timesteps, not 1,000"
    assert notes == [said]
