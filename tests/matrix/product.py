"""All combinations of components, and the settings for each."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import attrs

from rlk.component import Component
from rlk.registry.kernel import default_kernel
from rlk_testing.tools.small_settings import small_settings

WORLD = f"{Path(__file__).with_name('worlds.py')}:World"
STEPS = 64
REGISTRIES = default_kernel().registries
INSTALLED = {entry.name for entries in REGISTRIES for entry in entries}


def named(kind: str) -> dict[str, Component]:
    """The installed components of a kind, by their own names: `mlp`, but not `MlpPolicy`."""
    entries = [(entry.name, entry.component()) for entry in REGISTRIES[kind]]
    return {name: component for name, component in entries if component.name == name}


#: Those that train a policy step by step in an environment: one that learns from files has none.
ALGORITHMS = {
    name: component
    for name, component in named("algorithms").items()
    if component.collects in ("on-policy", "off-policy", "both")
}
STORAGES = {
    name: component
    for name, component in named("storages").items()
    if component.collects != "offline"
}
#: (factor, value) pairs of a combination.
Parts = tuple[tuple[str, str], ...]
Key = TypeVar("Key", bound=Hashable)


@attrs.frozen
class Combination:
    """One component of each kind, by the names that a user types; `+` joins several storages."""

    algorithm: str
    policy: str
    observation: str
    action: str
    storage: str
    vec_env: str
    extension: str

    def __str__(self) -> str:
        return "-".join(attrs.astuple(self))

    def parts(self, *factors: str) -> Parts:
        """(factor, value) of all, or of these."""
        return tuple((name, getattr(self, name)) for name in factors or FACTORS)


FACTORS = {
    "algorithm": tuple(ALGORITHMS),
    "policy": ("mlp", "cnn", "lstm", "multi-input"),
    "observation": (
        *("Box", "Image", "Discrete", "MultiDiscrete", "MultiBinary"),
        *("Dict", "Goals"),  # Goals: the Dict of a goal environment
    ),
    "action": ("Discrete", "Box", "MultiDiscrete", "MultiBinary"),
    "storage": (*STORAGES, "prioritized-replay+n-step+hindsight-replay"),
    "vec_env": ("dummy", "subprocess"),
    "extension": ("none", "compile"),
}
#: What no name of a setting tells.
SETTINGS: dict[str, dict[str, Any]] = {
    "ppo1": {"timesteps_per_actorbatch": 16},
    "trpo": {"cg_iters": 3, "vf_iters": 2},
    "ddpg": {"nb_train_steps": 1},
    "td3": {"gradient_steps": 2},
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


def everything() -> list[Combination]:
    """All combinations of what is installed."""
    names = {*INSTALLED, "none", *FACTORS["observation"], *FACTORS["action"]}
    values = [
        [value for value in factor if set(value.split("+")) <= names] for factor in FACTORS.values()
    ]
    return [Combination(*one) for one in itertools.product(*values)]


def env_settings(one: Combination) -> dict[str, Any]:
    """The environment, as `rlk.make` takes it."""
    return {"env": WORLD, "env.observation": one.observation, "env.action": one.action}


def small(algorithm: str) -> dict[str, Any]:
    """Settings of an algorithm with which it learns something in 64 steps."""
    return {**small_settings(ALGORITHMS[algorithm].config), **SETTINGS.get(algorithm, {})}


def run_settings(algorithm: str) -> dict[str, Any]:
    """Settings of the run that all combinations share."""
    shared = {"n_envs": 2, "seed": 5, "n_threads": 1, "device": "cpu", "total_timesteps": STEPS}
    return {**shared, **small(algorithm)}


def keywords(one: Combination) -> dict[str, Any]:
    """The arguments of `rlk.make`, without the algorithm's name."""
    storages = one.storage.split("+")
    alone = not any(STORAGES[name].stages for name in storages)
    based = {"storage": one.storage} if alone else {}
    plugins = [] if based else storages
    plugins += [] if one.extension == "none" else [one.extension]
    settings = {
        **env_settings(one),
        **based,
        "policy": one.policy,
        "vec_env": one.vec_env,
        "plugins": plugins,
        **run_settings(one.algorithm),
    }
    for name in (one.policy, one.vec_env, *plugins):
        settings |= SETTINGS.get(name, {})
    return settings


#: A test run is to have these together only by chance: an algorithm sees observations through its
#: policy alone, and nothing of how environments are stepped. That the update of every algorithm
#: becomes a graph is tested with rlk-compile; a graph sees tensors, whichever storage they are of.
APART = (
    {"algorithm", "observation"},
    {"algorithm", "vec_env"},
    {"algorithm", "extension"},
    {"storage", "extension"},
    {"observation", "extension"},
)


def covering(combinations: Iterable[Parts]) -> list[Parts]:
    """A small subset that has every pair of values which occurs in any of them.

    Tracing takes several times as long as training: one with `compile` is chosen for the pairs that
    only such a one has.
    """
    return covering_all(
        {one: _pairs(one) for one in combinations},
        lambda one: 8.0 if ("extension", "compile") in one else 1.0,
    )


def covering_all(
    values: Mapping[Key, set[Any]], cost: Callable[[Key], float] = lambda one: 1.0
) -> list[Key]:
    """A small part of the keys, chosen greedily, which together have the values of all of them."""
    left, chosen = set[Any]().union(*values.values()), list[Key]()
    while left:
        best = max(values, key=lambda one: len(values[one] & left) / cost(one))
        chosen.append(best)
        left -= values[best]
    return chosen


def _pairs(one: Parts) -> set[Any]:
    return {(a, b) for a, b in itertools.combinations(one, 2) if {a[0], b[0]} not in APART}
