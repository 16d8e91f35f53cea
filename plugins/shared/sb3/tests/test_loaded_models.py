"""Models that were saved and loaded again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from rlk.errors import BadFile
from rlk_baselines.common import make_vec_env
from rlk_baselines.saved_models import model_files
from rlk_baselines.saved_models.pickled import as_pickle_bytes
from rlk_sb3 import A2C, DQN, SAC


def reloaded(model: Any, folder: Path, **changes: Any) -> Any:
    model.save(folder / "model")
    return type(model).load(folder / "model", **changes)


def test_a_loaded_model_has_the_attributes_of_its_class_and_no_further_settings(tmp_path) -> None:
    loaded = reloaded(A2C("MlpPolicy", "CartPole-v1", learning_rate=0.01), tmp_path)
    assert loaded.lr_schedule(0.5) == 0.01
    loaded.lr_schedule = lambda remaining: remaining
    assert loaded.learning_rate(0.5) == 0.5
    with pytest.raises(ValueError, match="A2C has no momentum to replace"):
        reloaded(loaded, tmp_path, momentum=0.5)


def test_a_number_of_episodes_between_updates_comes_back(tmp_path: Path) -> None:
    model = SAC("MlpPolicy", "Pendulum-v1", train_freq=(2, "episode"), buffer_size=300)
    loaded = reloaded(model, tmp_path)
    assert loaded.train_freq == model.train_freq == (2, "episode")
    loaded.gamma = 0.9
    assert loaded.agent.plan.algorithm.config.train_freq == "2 episode"


def test_what_no_plan_holds_of_arguments_comes_back(tmp_path: Path) -> None:
    model = A2C("MlpPolicy", "CartPole-v1", verbose=1, stats_window_size=7)
    model.save(tmp_path / "model")
    loaded = A2C.load(tmp_path / "model")
    assert (loaded.verbose, loaded.stats_window_size) == (1, 7)
    assert loaded.agent.run.metrics.recent_episodes.maxlen == 7
    state = model_files.read(tmp_path / "model.zip")
    state["baselines"]["arguments"]["verbose"] = "loud"
    (tmp_path / "damaged.pkl").write_bytes(as_pickle_bytes(state))
    with pytest.warns(DeprecationWarning), pytest.raises(BadFile, match="verbose"):
        A2C.load(tmp_path / "damaged.pkl")


def test_an_activation_comes_back_and_serves_again(tmp_path: Path) -> None:
    kwargs = {
        "activation_fn": torch.nn.ELU,
        "optimizer_class": torch.optim.RMSprop,
        "net_arch": [8],
    }
    A2C("MlpPolicy", "CartPole-v1", policy_kwargs=kwargs).save(tmp_path / "model")
    model = A2C.load(tmp_path / "model", env="CartPole-v1")
    model.gamma = 0.5
    model.set_env(make_vec_env("CartPole-v1", 2))
    assert model.learn(30).agent.plan.policy.config.act_fun == "elu"
    A2C.load(tmp_path / "model", policy_kwargs=kwargs)


def test_a_loaded_model_takes_attributes_up(tmp_path) -> None:
    DQN("MlpPolicy", "CartPole-v1", buffer_size=500).save(tmp_path / "model")
    model = DQN.load(tmp_path / "model", env="CartPole-v1")
    model.target_update_interval = 50
    assert model.agent.plan.algorithm.config.target_network_update_freq == 50
