"""The arguments of a model, and what follows from them, are the same after saving and loading."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rlk_baselines
import rlk_sb3
import rlk_sb3_contrib
from rlk.saving import checkpoint
from rlk_baselines import ACER, ACKTR, PPO2
from rlk_baselines.common.base_class import BaseRLModel
from rlk_baselines.common.noise import AdaptiveParamNoiseSpec

#: The models that are made with a policy and an environment alone.
KINDS: list[Any] = [
    kind
    for module in (rlk_baselines, rlk_sb3, rlk_sb3_contrib)
    for kind in (getattr(module, name) for name in module.__all__)
    if isinstance(kind, type)
    and issubclass(kind, BaseRLModel)
    and kind.algo
    and kind not in (rlk_baselines.HER, rlk_sb3_contrib.MaskablePPO)
]
#: `render` needs a display.
SKIPPED = ("_init_setup_model", "gamma", "render")
#: Arguments that switch on others -> a value that does it; some do it by default.
ON: dict[str, Any] = {
    "eval_env": "Pendulum-v1",
    "normalize_returns": True,
    "param_noise": AdaptiveParamNoiseSpec(),
    "prioritized_replay": True,
    "tensorboard_log": "events",
    "use_sde": True,
}


def reloaded(model: Any, folder: Path, **changes: Any) -> Any:
    model.save(folder / "model")
    return type(model).load(folder / "model", **changes)


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        (PPO2, "verbose", np.int64(0)),
        (PPO2, "n_cpu_tf_sess", np.int64(1)),
        (PPO2, "seed", np.int64(5)),
        (PPO2, "gamma", np.float32(0.5)),
        (rlk_sb3.A2C, "use_rms_prop", np.bool_(False)),
        (rlk_sb3.A2C, "stats_window_size", np.int64(50)),
    ],
)
def test_a_number_of_numpys_is_held_as_one_of_pythons(kind, name, value, tmp_path: Path) -> None:
    model = kind("MlpPolicy", "CartPole-v1", **{name: value})
    for one in (model, reloaded(model, tmp_path), reloaded(model, tmp_path, **{name: value})):
        assert type(getattr(one, name)) is type(value.item()) and getattr(one, name) == value
    if name != "use_rms_prop":
        setattr(model, name, value + 1 if name != "gamma" else value)
        assert type(getattr(reloaded(model, tmp_path), name)) is type(value.item())


def other(value: Any) -> Any:
    """A value of an argument that is not its default; None if there is none for its type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value // 2 if value > 1 else abs(value) + 1
    if isinstance(value, float):
        return value / 2 if value else 0.01
    return None


def changed(kind: Any) -> dict[str, Any]:
    """The arguments that have another value than their default, each with that value."""
    values = {
        name: other(one.default)
        for name, one in kind.__new__(kind)._arguments().items()
        if not one.only and name not in SKIPPED
    }
    return {name: value for name, value in values.items() if value is not None}


def together(kind: Any) -> list[dict[str, Any]]:
    """The changed arguments, in groups that a model can have at once: all that need the same
    switch; one that is a switch itself, which may end the effect of others, is alone."""
    needs = {name: one.needs for name, one in kind.__new__(kind)._arguments().items()}
    switches = {one.switch for one in needs.values() if one}
    groups: dict[Any, dict[str, Any]] = {}
    for name, value in changed(kind).items():
        key = name if name in switches else (needs[name] and needs[name].switch,)
        groups.setdefault(key, {})[name] = value
    return list(groups.values())


def made(kind: Any, values: dict[str, Any]) -> Any:
    """A model with these arguments, and with what switches them on."""
    arguments = kind.__new__(kind)._arguments()
    needed = {arguments[name].needs.switch for name in values if arguments[name].needs}
    switches = {name: ON[name] for name in needed if name in ON}
    continuous = kind.__name__ in ("DDPG", "SAC", "TD3") or "use_sde" in (*values, *switches)
    policy = "MlpLstmPolicy" if kind.__name__ == "RecurrentPPO" else "MlpPolicy"
    env = "Pendulum-v1" if continuous else "CartPole-v1"
    return kind(policy, env, **values, **switches)


def settings(model: Any) -> dict[str, Any]:
    """The settings of all components of a model's run, without those that a test changes."""
    plan = checkpoint.model_state(model.agent.run)["manifest"]["plan"]
    return {
        f"{one['name']}.{key}": value
        for one in plan["components"]
        for key, value in one["settings"].items()
        if key not in ("gamma", "memory_limit")  # an older name of buffer_size
    }


def comes_back_and_stays(kind: Any, values: dict[str, Any], folder: Path) -> None:
    model = made(kind, values)
    with warnings.catch_warnings(action="error"):
        loaded = reloaded(model, folder)
    for name in values:
        assert getattr(loaded, name) == getattr(model, name), name
    assert settings(loaded) == settings(model), values
    loaded.gamma = 0.77
    assert settings(loaded) == settings(model), values
    assert loaded.agent.plan.algorithm.config.gamma == 0.77


MODELS = pytest.mark.parametrize(
    "kind", KINDS, ids=lambda kind: f"{kind.__module__}.{kind.__name__}"
)


@MODELS
def test_every_argument_comes_back_and_stays_when_another_one_is_set(kind, tmp_path: Path) -> None:
    groups = together(kind)
    assert {name for values in groups for name in values} == set(changed(kind))
    for values in groups:
        comes_back_and_stays(kind, values, tmp_path)


@pytest.mark.matrix_full
@MODELS
def test_each_argument_comes_back_while_all_others_have_their_defaults(kind, tmp_path) -> None:
    for name, value in changed(kind).items():
        comes_back_and_stays(kind, {name: value}, tmp_path)


@pytest.mark.parametrize(("kind", "name"), [(ACER, "num_procs"), (ACKTR, "nprocs")])
def test_an_older_name_for_the_threads_stands_for_the_newer_one(kind, name, tmp_path) -> None:
    model = kind("MlpPolicy", "CartPole-v1")
    model.save(tmp_path / "model")
    with pytest.warns(DeprecationWarning, match=f"{name} is deprecated: use n_cpu_tf_sess"):
        loaded = kind.load(tmp_path / "model", **{name: 2})
    with pytest.warns(DeprecationWarning, match=f"{name} is deprecated: use n_cpu_tf_sess"):
        setattr(model, name, 2)
    for one in (model, loaded):
        assert one.n_cpu_tf_sess == one.agent.plan.n_threads == 2
