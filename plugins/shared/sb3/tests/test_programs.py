"""Further uses by programs for Stable-Baselines3: loading to act, monitors, seeds, devices."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.spaces import Box
from torch import nn

from rlk_baselines.refusals import Refused
from rlk_sb3 import DQN, PPO, SAC
from rlk_sb3.common.callbacks import BaseCallback
from rlk_sb3.common.env_util import make_vec_env
from rlk_sb3.common.monitor import Monitor, load_results
from rlk_sb3.common.vec_env import DummyVecEnv
from rlk_testing.tools.forks import ForkServer
from rlk_testing.tools.sb3_model_files import (
    CART,
    OF_PPO,
    OF_SAC,
    PENDULUM,
    SIZES,
    SWING,
    actor_critic,
    critics,
    mlp,
    saved,
)

SMALL: dict[str, Any] = {"n_steps": 16, "batch_size": 16, "n_epochs": 1}
#: What RL Zoo passes to `load` in order to show a model.
ENJOY = {"learning_rate": 0.0, "lr_schedule": lambda _: 0.0, "clip_range": lambda _: 0.0}


def ppo_there(folder: Path, **settings: Any) -> Path:
    name = "common.policies.ActorCriticPolicy"
    return saved(folder, name, OF_PPO | settings, actor_critic(4, 2), **CART, **SIZES)


def sac_there(folder: Path) -> Path:
    n = critics() | {
        "actor.latent_pi": mlp(3, 6, 5, activation=nn.ReLU, ends=True),
        "actor.mu": nn.Linear(5, 1),
        "actor.log_std": nn.Linear(5, 1),
    }
    own = {**SWING, "policy_kwargs": {"net_arch": [6, 5]}, "num_timesteps": 40}
    variables = {"log_ent_coef": torch.tensor([0.0])}
    return saved(folder, "sac.policies.SACPolicy", OF_SAC, n, variables, **own)


@pytest.mark.parametrize("own", [False, True])
def test_custom_objects_that_are_not_arguments_cause_a_warning(tmp_path: Path, own: bool) -> None:
    path = tmp_path / "own.zip" if own else ppo_there(tmp_path)
    if own:
        PPO("MlpPolicy", "CartPole-v1", **SMALL).save(path)
    with pytest.warns(UserWarning, match=r"PPO\.load: custom_objects that .*: lr_schedule\."):
        model = PPO.load(path, custom_objects=ENJOY)
    assert (model.learning_rate, model.clip_range(1.0)) == (0.0, 0.0)
    with pytest.raises(Refused if own else TypeError, match="lr_schedule"):
        PPO.load(path, lr_schedule=ENJOY["lr_schedule"])  # a keyword may be a slip


def test_spaces_may_be_passed_instead_of_those_of_a_file_from_there(tmp_path: Path) -> None:
    wide = Box(-9, 9, (4,), np.float32)
    model = PPO.load(ppo_there(tmp_path), custom_objects={"observation_space": wide})
    assert model.observation_space == wide and model.predict(np.zeros(4))[0] in (0, 1)


@pytest.mark.parametrize("own", [False, True])
def test_a_model_is_loaded_to_act_with_a_replay_of_one(tmp_path: Path, own: bool) -> None:
    path = tmp_path / "own.zip" if own else sac_there(tmp_path)
    if own:
        SAC("MlpPolicy", "Pendulum-v1", batch_size=4, buffer_size=9).save(path)
    expected = SAC.load(path).predict(PENDULUM.numpy(), deterministic=True)[0]
    with pytest.warns(UserWarning, match=r"buffer_size=3 is less than a batch: it is 4"):
        SAC.load(path, buffer_size=np.int64(3))
    with pytest.warns(UserWarning, match=r"buffer_size=1 is less than a batch: it is 4"):
        model = SAC.load(path, buffer_size=1)
    assert np.array_equal(model.predict(PENDULUM.numpy(), deterministic=True)[0], expected)
    assert model.buffer_size == 4
    with pytest.warns(UserWarning, match=r"it is 6 in this model"):
        SAC.load(path, env=make_vec_env("Pendulum-v1", 3), buffer_size=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert SAC.load(path, buffer_size=5).buffer_size == 5


def test_a_model_counts_on_from_the_timesteps_in_its_file(tmp_path: Path) -> None:
    path = ppo_there(tmp_path, num_timesteps=32)
    assert PPO.load(path).num_timesteps == 32
    model = PPO.load(path, env="CartPole-v1")
    assert model.learn(32, reset_num_timesteps=False).num_timesteps == 64
    assert PPO.load(path, env="CartPole-v1").learn(32).num_timesteps == 32
    # Its replay is empty, although it is past `learning_starts`.
    sac = SAC.load(sac_there(tmp_path), env="Pendulum-v1")
    assert sac.learn(12, reset_num_timesteps=False).num_timesteps == 52


def test_a_bare_environment_is_put_into_a_monitor() -> None:
    class Seen(BaseCallback):
        episodes = 0

        def _on_step(self) -> bool:
            self.episodes += sum("episode" in info for info in self.locals["infos"])
            return True

    model, seen = PPO("MlpPolicy", gymnasium.make("CartPole-v1"), **SMALL), Seen()
    model.learn(128, callback=seen)
    assert seen.episodes == len(model.ep_info_buffer) > 0
    assert model.ep_info_buffer[-1].keys() == {"r", "l", "t"}

    def monitors(model: Any) -> list[bool]:
        (env,) = model.get_env().envs
        return [isinstance(env, Monitor), isinstance(env.env, Monitor)]

    assert monitors(model) == monitors(PPO("MlpPolicy", "CartPole-v1", **SMALL)) == [True, False]
    own = Monitor(gymnasium.make("CartPole-v1"))
    assert monitors(PPO("MlpPolicy", own, **SMALL)) == [True, False]
    wrapped = gymnasium.wrappers.TimeAwareObservation(own)
    assert PPO("MlpPolicy", wrapped, **SMALL).get_env().envs == [wrapped]
    model.set_env(gymnasium.make("CartPole-v1"))
    assert monitors(model) == [True, False]
    vector = DummyVecEnv([lambda: gymnasium.make("CartPole-v1")])
    assert PPO("MlpPolicy", vector, **SMALL).get_env() is vector


def test_a_loaded_model_has_its_environment_in_a_monitor(tmp_path: Path) -> None:
    PPO("MlpPolicy", "CartPole-v1", **SMALL).save(tmp_path / "own")
    for path in (tmp_path / "own.zip", ppo_there(tmp_path)):
        model = PPO.load(path, env=gymnasium.make("CartPole-v1"))
        assert isinstance(model.get_env().envs[0], Monitor)


def test_a_monitors_file_can_be_read_before_an_episode_has_ended(tmp_path: Path) -> None:
    make_vec_env("CartPole-v1", 2, monitor_dir=str(tmp_path))
    assert len(load_results(str(tmp_path))) == 0


_SEEDED = """
import torch
from rlk_sb3 import PPO
from rlk_sb3.common.utils import set_random_seed
def parameters():
    model = PPO("MlpPolicy", "CartPole-v1", n_steps=16, batch_size=16)
    assert model.seed is None
    return torch.cat([one.ravel() for one in model.get_parameters()["policy"].values()])
before = parameters(), parameters()
set_random_seed(3)
first = parameters(), parameters()
set_random_seed(3)
again = parameters(), parameters()
pairs = before, first, (first[0], again[0]), (first[1], again[1])
print([bool((a == b).all()) for a, b in pairs])
"""


def test_set_random_seed_decides_the_networks_of_models_without_a_seed(
    tmp_path: Path, rlk_forks: ForkServer
) -> None:
    program = tmp_path / "program.py"
    program.write_text(_SEEDED)
    with rlk_forks.start(program, cwd=tmp_path) as running:
        printed, _ = running.communicate(timeout=60)
    assert printed.strip() == "[False, False, True, True]"


def test_the_environments_of_such_a_model_keep_their_own_seeds(
    counting: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rlk_sb3.common.utils._seeded", True)
    env = counting()
    model = PPO("MlpPolicy", env, **SMALL).learn(16)
    assert model.seed is None and env.seeds == []
    PPO("MlpPolicy", env, **SMALL, seed=4).learn(16)
    assert len(env.seeds) == 1


def test_a_device_may_be_torchs(tmp_path: Path) -> None:
    device = torch.device("cpu")
    model = DQN("MlpPolicy", "CartPole-v1", device=device, buffer_size=50)
    assert model.device == device
    model.save(tmp_path / "own")
    assert DQN.load(tmp_path / "own", device=device).device == device
    assert DQN.load(tmp_path / "own", custom_objects={"device": device}).device == device


def test_without_a_gpu_cuda_is_the_cpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.warns(UserWarning, match="finds no GPU, so device='cuda' is the CPU here"):
        model = PPO("MlpPolicy", "CartPole-v1", device="cuda", **SMALL)
    model.save(tmp_path / "own")
    with pytest.warns(UserWarning, match="device='cuda:1' is the CPU"):
        assert PPO.load(tmp_path / "own", device=torch.device("cuda:1")).device.type == "cpu"
    with pytest.raises(Refused, match="there is no device 'gpu'"):
        PPO("MlpPolicy", "CartPole-v1", device="gpu", **SMALL)
