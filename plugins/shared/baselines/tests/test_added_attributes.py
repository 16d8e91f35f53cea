"""Attributes that a program or a derived class adds to a model are in the model's file."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_models import small_ppo

import rlk_baselines
import rlk_sb3
import rlk_sb3_contrib
from rlk.errors import BadFile
from rlk_baselines import PPO2
from rlk_baselines.common.bit_flipping_env import BitFlippingEnv
from rlk_baselines.saved_models import added_attributes

SMALL: dict[str, Any] = {"n_steps": 16, "batch_size": 16, "n_epochs": 1}
PLAIN: dict[str, Any] = {"stage": 3, "best": -math.inf, "seen": [1.5, {"a": None}], "name": "x"}


class WithStage(rlk_sb3.PPO):
    """Has an attribute before those of the model, and one by a name of the class."""

    stage = 0

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        self.level = "first"
        super().__init__(*arguments, **keywords)


def test_plain_attributes_come_back_from_a_file(tmp_path: Path) -> None:
    model = WithStage("MlpPolicy", "CartPole-v1", **SMALL)
    vars(model).update(PLAIN, mean=np.float32(0.5), _hidden=1)
    model.level = "second"
    model.save(tmp_path / "model", exclude=["name"])
    loaded = WithStage.load(tmp_path / "model")
    expected = {**PLAIN, "level": "second", "mean": 0.5}
    del expected["name"]
    assert {name: getattr(loaded, name) for name in expected} == expected
    assert not {"name", "_hidden"} & vars(loaded).keys()


@pytest.mark.filterwarnings("ignore:the loaded model is a pickle")
@pytest.mark.parametrize("cloudpickle", [False, True])
def test_they_come_back_from_a_file_of_every_kind(cloudpickle: bool, tmp_path: Path) -> None:
    model: Any = small_ppo()
    vars(model).update(PLAIN)
    model.save(tmp_path / "model", cloudpickle=cloudpickle)
    loaded = PPO2.load(tmp_path / "model")
    assert {name: getattr(loaded, name) for name in PLAIN} == PLAIN


def test_others_are_named_when_a_model_is_saved(tmp_path: Path) -> None:
    model: Any = WithStage("MlpPolicy", "CartPole-v1", **SMALL)
    vars(model).update(pair=(1, 2), env_log=object(), by_number={1: 2}, stage=3)
    with pytest.warns(UserWarning, match="does not hold by_number, env_log, pair. Of attributes"):
        model.save(tmp_path / "model")
    assert WithStage.load(tmp_path / "model").stage == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.save(tmp_path / "model", exclude=["pair", "env_log", "by_number"])


def test_a_file_replaces_nothing_that_a_model_has_itself() -> None:
    model: Any = WithStage("MlpPolicy", "CartPole-v1", **SMALL)
    before, saved = dict(vars(model)), {"learn": 1, "_agent": 2, "tensorboard_log": "x"}
    with pytest.warns(UserWarning, match="left out: _agent, learn, tensorboard_log"):
        added_attributes.restore(model, {**saved, "stage": 3})
    assert vars(model) == {**before, "stage": 3} and model.tensorboard_log is None
    for damaged in ([], {"stage": object()}):
        with pytest.raises(BadFile, match="is damaged: its attributes are"):
            added_attributes.restore(model, damaged)


def _models() -> list[Any]:
    by_env = {
        "CartPole-v1": [
            *(rlk_baselines.A2C, rlk_baselines.ACER, rlk_baselines.ACKTR, rlk_baselines.DQN),
            *(rlk_baselines.PPO1, PPO2, rlk_baselines.TRPO, rlk_sb3.A2C, rlk_sb3.DQN, rlk_sb3.PPO),
            rlk_sb3_contrib.TRPO,
        ],
        "Pendulum-v1": [
            *(rlk_baselines.DDPG, rlk_baselines.SAC, rlk_baselines.TD3),
            *(rlk_sb3.DDPG, rlk_sb3.SAC, rlk_sb3.TD3),
        ],
    }
    made = [cls("MlpPolicy", env) for env, classes in by_env.items() for cls in classes]
    recurrent = rlk_sb3_contrib.RecurrentPPO("MlpLstmPolicy", "CartPole-v1")
    return [*made, recurrent, rlk_baselines.HER("MlpPolicy", BitFlippingEnv(4), rlk_baselines.DQN)]


def test_no_model_has_attributes_that_count_as_added() -> None:
    models = _models()
    models.append(rlk_sb3.PPO("MlpPolicy", "CartPole-v1", **SMALL).learn(16))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [added_attributes.in_a_file(model) for model in models] == [{}] * len(models)
