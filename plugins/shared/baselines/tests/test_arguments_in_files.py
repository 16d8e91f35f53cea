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


def made(kind: Any, name: str, value: Any) -> Any:
    needs = kind.__new__(kind)._argument(name).needs
    switch = {needs.switch: ON[needs.switch]} if needs and needs.switch in ON else {}
    continuous = kind.__name__ in ("DDPG", "SAC", "TD3") or "use_sde" in (name, *switch)
    policy = "MlpLstmPolicy" if kind.__name__ == "RecurrentPPO" else "MlpPolicy"
    env = "Pendulum-v1" if continuous else "CartPole-v1"
    return kind(policy, env, **{name: value}, **switch)


def settings(model: Any) -> dict[str, Any]:
    """The settings of all components of a model's run, without those that a test changes."""
    plan = checkpoint.model_state(model.agent.run)["manifest"]["plan"]
    return {
        f"{one['name']}.{key}": value
        for one in plan["components"]
        for key, value in one["settings"].items()
        if key not in ("gamma", "memory_limit")  # an older name of buffer_size
    }


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_every_argument_comes_back_and_stays_when_another_one_is_set(kind, tmp_path: Path) -> None:
    for name, one in kind.__new__(kind)._arguments().items():
        value = other(one.default)
        if value is None or one.only or name in SKIPPED:
            continue
        model = made(kind, name, value)
        with warnings.catch_warnings(action="error"):
            loaded = reloaded(model, tmp_path)
        assert getattr(loaded, name) == getattr(model, name), name
        assert settings(loaded) == settings(model), name
        loaded.gamma = 0.77
        assert settings(loaded) == settings(model), name
        assert loaded.agent.plan.algorithm.config.gamma == 0.77


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
