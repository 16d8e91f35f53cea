"""Files of Stable Baselines 2.10: what is read from them, and what is refused."""

from __future__ import annotations

import base64
import pickle
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from models_there import (
    CART_SPACES,
    OF_DQN,
    OF_PPO2,
    saved,
)
from networks_there import (
    CARTPOLE,
    SIZES,
    actor_critic,
    dense,
    hidden,
    softmax,
)

from rlk.errors import BadFile
from rlk_baselines import A2C, HER, PPO2
from rlk_baselines.common.policies import FeedForwardPolicy


def test_it_learns_on_and_is_saved_as_any_other(tmp_path: Path) -> None:
    path = saved(tmp_path, OF_PPO2, actor_critic(), **CART_SPACES, **SIZES)
    model = PPO2.load(str(path).removesuffix(".zip"), env="CartPole-v1", gamma=0.95)
    model.learn(16)
    model.save(tmp_path / "ours")
    again = PPO2.load(tmp_path / "ours")
    assert again.gamma == 0.95
    np.testing.assert_array_equal(
        again.action_probability(CARTPOLE), model.action_probability(CARTPOLE)
    )
    with path.open("rb") as file:
        assert PPO2.load(file).gamma == 0.9
    again.load_parameters(path)
    np.testing.assert_array_equal(
        again.action_probability(CARTPOLE), PPO2.load(path).action_probability(CARTPOLE)
    )


def test_a_file_of_cloudpickle_is_read_as_well(tmp_path: Path) -> None:
    p = actor_critic()
    arrays = OrderedDict((f"{name}:0", value.astype(np.float32)) for name, value in p.items())
    data = {**OF_PPO2, "policy": A2C, "policy_kwargs": SIZES["policy_kwargs"]}
    pickled = pickle.dumps((data, arrays), protocol=3)
    named = b"cstable_baselines.common.policies\nMlpPolicy\n"
    path = tmp_path / "old.pkl"
    path.write_bytes(pickled.replace(b"crlk_baselines.a2c.a2c\nA2C\n", named))
    model = PPO2.load(path, env="CartPole-v1")
    likely = softmax(dense(hidden(p, "pi"), p, "model/pi"))
    np.testing.assert_allclose(model.action_probability(CARTPOLE), likely, rtol=1e-5)
    path.write_bytes(pickle.dumps((data, list(arrays.values()))))
    with pytest.raises(BadFile, match=r"no names: it is of a release before 2\.5"):
        PPO2.load(path)


class Runs:
    def __reduce__(self) -> Any:
        return (print, ("this must not run",))


def test_nothing_in_a_file_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = {":serialized:": base64.b64encode(pickle.dumps(Runs())).decode()}
    own = {**OF_PPO2, "learning_rate": code}
    path = saved(tmp_path, own, actor_critic(), **CART_SPACES, **SIZES)
    with pytest.warns(UserWarning, match=r"learning_rate are functions or objects"):
        model = PPO2.load(path)
    assert model.learning_rate == 2.5e-4, "the default"
    assert "must not run" not in capsys.readouterr().out


class Mine(FeedForwardPolicy):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs, feature_extraction="mlp")


def test_what_does_not_fit_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = saved(tmp_path, OF_PPO2, actor_critic(), "train.Mine", **CART_SPACES, **SIZES)
    with pytest.raises(ValueError, match=r"class of a program, .* PPO2.load\(.*, policy=…\)"):
        PPO2.load(path)
    assert PPO2.load(path, policy=Mine).gamma == 0.9
    with pytest.raises(ValueError, match=r"PPO2, not of A2C. Write rlk_baselines.PPO2.load\("):
        A2C.load(path)
    with pytest.raises(ValueError, match="model of HER in Stable Baselines, which is not loaded"):
        HER.load(saved(tmp_path, {**OF_DQN, "model_class": "DQN"}, {}, **CART_SPACES))
    path = saved(tmp_path, OF_PPO2, actor_critic(), "train.Mine", **CART_SPACES, **SIZES)
    with pytest.raises(ValueError, match=r"spaces in .* cannot be read: pass an environment"):
        PPO2.load(saved(tmp_path, OF_PPO2, actor_critic(), **SIZES))
    small = saved(tmp_path, OF_PPO2, actor_critic(), **CART_SPACES)
    with pytest.raises(ValueError, match=r"has the shape \[4, 64\], in the file \[4, 6\]"):
        PPO2.load(small)
    lacking = {name: value for name, value in actor_critic().items() if name != "model/vf/b"}
    with pytest.raises(ValueError, match=r"no parameter 'model/vf/b', of which model/vf/out/bias"):
        PPO2.load(saved(tmp_path, OF_PPO2, lacking, **CART_SPACES, **SIZES))
    with zipfile.ZipFile(path, "w") as archive:
        for entry in ("data", "parameters", "parameter_list"):
            archive.writestr(entry, "no json")
    with pytest.raises(BadFile, match="is damaged"):
        PPO2.load(path)
