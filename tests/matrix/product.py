"""Everything with everything: all combinations, and how each is asked for."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import attrs

WORLD = f"{Path(__file__).with_name('worlds.py')}:World"
STEPS = 64


@attrs.frozen
class Combination:
    """One of each; the names are those that a user types, `+` is several storages at once."""

    algorithm: str
    policy: str
    observation: str
    action: str
    storage: str
    vec_env: str
    extension: str

    def __str__(self) -> str:
        return "-".join(attrs.astuple(self))


FACTORS = {
    "algorithm": ("dqn", "ppo2", "sac", "td3", "trpo"),
    "policy": ("mlp", "cnn", "lstm", "multi-input"),
    "observation": (
        *("Box", "Image", "Discrete", "MultiDiscrete", "MultiBinary"),
        *("Dict", "Goals"),  # Goals: the Dict of a goal environment
    ),
    "action": ("Discrete", "Box", "MultiDiscrete", "MultiBinary"),
    "storage": (
        *("rollout", "replay", "prioritized-replay", "n-step", "hindsight-replay"),
        "prioritized-replay+n-step+hindsight-replay",
    ),
    "vec_env": ("dummy", "subprocess"),
    "extension": ("none", "compile"),
}
#: An update of a replay every second step, from the sixteenth on.
REPLAY = {"learning_starts": 16, "batch_size": 8, "buffer_size": 64, "train_freq": 2}
#: What makes a run of 64 steps learn, and learn quickly.
SETTINGS: dict[str, dict[str, Any]] = {
    "dqn": REPLAY,
    "ppo2": {"n_steps": 8, "nminibatches": 2, "noptepochs": 2},
    "sac": REPLAY,
    "td3": {**REPLAY, "gradient_steps": 2},
    "trpo": {"timesteps_per_batch": 16, "vf_iters": 2, "cg_iters": 3},
    "mlp": {"mlp.layers": [8]},
    "cnn": {"cnn.features": 8},
    "lstm": {"lstm.layers": [8], "lstm.n_lstm": 8},
    "multi-input": {"multi-input.layers": [8]},
    "n-step": {"n-step.n_steps": 3},
    # How workers are started is tested with rlk-subprocess.
    "subprocess": {"subprocess.n_workers": 1, "subprocess.start_method": "fork"},
    # Tracing is what may fail; what a C++ compiler makes of a trace is tested with rlk-compile.
    "compile": {"compile.backend": "eager"},
}


def everything(installed: Iterable[str]) -> list[Combination]:
    """The whole product of what is installed."""
    names = {*installed, "none", *FACTORS["observation"], *FACTORS["action"]}
    values = [
        [value for value in factor if set(value.split("+")) <= names] for factor in FACTORS.values()
    ]
    return [Combination(*one) for one in itertools.product(*values)]


def env_settings(one: Combination) -> dict[str, Any]:
    """The environment, as `rlk.make` takes it."""
    return {"env": WORLD, "env.observation": one.observation, "env.action": one.action}


def keywords(one: Combination) -> dict[str, Any]:
    """What `rlk.make` is called with, the algorithm's name aside."""
    storages = one.storage.split("+")
    based = {"storage": one.storage} if one.storage in ("rollout", "replay") else {}
    plugins = [] if based else storages
    plugins += [] if one.extension == "none" else [one.extension]
    settings = {
        **env_settings(one),
        **based,
        "policy": one.policy,
        "vec_env": one.vec_env,
        "plugins": plugins,
        "n_envs": 2,
        "seed": 5,
        "n_threads": 1,
        "device": "cpu",
        "total_timesteps": STEPS,
    }
    for name in (one.algorithm, one.policy, one.vec_env, *plugins):
        settings |= SETTINGS.get(name, {})
    return settings


def covering(combinations: list[Combination]) -> list[Combination]:
    """A few of them, greedily, in which every pair of values is that occurs in any of them."""
    pairs = {one: _pairs(one) for one in combinations}
    left, chosen = set[Any]().union(*pairs.values()), list[Combination]()
    while left:
        best = max(combinations, key=lambda one: len(pairs[one] & left))
        chosen.append(best)
        left -= pairs[best]
    return chosen


def _pairs(one: Combination) -> set[Any]:
    return set(itertools.combinations(attrs.asdict(one).items(), 2))
