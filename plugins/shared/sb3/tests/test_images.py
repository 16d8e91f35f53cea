"""Policies for images: their layers after the CNN, bounds, and the axis of channels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium import spaces
from torch import nn

from rlk_sb3 import A2C, DDPG, DQN, PPO, SAC, TD3
from rlk_sb3.common.evaluation import evaluate_policy
from rlk_sb3.common.vec_env import DummyVecEnv
from rlk_testing.tools.sb3_model_files import (
    OF_A2C,
    OF_PPO,
    PENDULUM,
    SWING,
    Seen,
    actor_critic,
    close,
    mlp,
    saved,
)
from rlk_testing.tools.stable_baselines_pickles import discrete, object_there

SEEN = np.random.default_rng(0).integers(0, 256, (3, 2, 44, 44), np.uint8)


class Pictures(gymnasium.Env[Any, Any]):
    """Episodes of three noisy images."""

    def __init__(self, shape: tuple[int, ...] = (44, 44, 2), action_space: Any = None) -> None:
        self.observation_space = spaces.Box(0, 255, shape, np.uint8)
        self.action_space = action_space or spaces.Discrete(3)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.steps = 0
        return self.observation_space.sample(), {}

    def step(self, action: Any) -> Any:
        self.steps += 1
        return self.observation_space.sample(), 1.0, self.steps == 3, False, {}


def images(low: Any, high: Any, dtype: Any) -> dict[str, str]:
    shape = (2, 44, 44)
    bounds = {"low": np.full(shape, low, dtype), "high": np.full(shape, high, dtype)}
    return object_there("gymnasium.spaces.box.Box", **bounds, _shape=shape, dtype=np.dtype(dtype))


def network() -> dict[str, Any]:
    torch.manual_seed(2)
    return {
        "features_extractor": Seen(),
        "mlp_extractor.policy_net": mlp(512, 6, ends=True),
        "mlp_extractor.value_net": mlp(512, 5, ends=True),
        "action_net": nn.Linear(6, 3),
        "value_net": nn.Linear(5, 1),
    }


def written(folder: Path, settings: dict[str, Any], space: Any, **kwargs: Any) -> Path:
    own = {"policy_kwargs": {"net_arch": {"pi": [6], "vf": [5]}, **kwargs}}
    own |= {"observation_space": space, "action_space": discrete(3)}
    name = "common.policies.ActorCriticCnnPolicy"
    return saved(folder, name, settings, network(), **own)


@pytest.mark.parametrize(("cls", "settings"), [(PPO, OF_PPO), (A2C, OF_A2C)])
def test_layers_behind_the_cnn_of_an_actor_critic_have_tanh(
    tmp_path: Path, cls: Any, settings: Any
) -> None:
    model = cls.load(written(tmp_path, settings, images(0, 255, np.uint8)))
    n = network()
    features = n["features_extractor"](torch.from_numpy(SEEN).float())
    logits = n["action_net"](n["mlp_extractor.policy_net"](features))
    close(model.action_probability(SEEN), logits.softmax(1))
    own = cls("CnnPolicy", Pictures(), policy_kwargs={"net_arch": [6]})
    assert own.agent.plan.policy.config.act_fun == "tanh"
    dqn = DQN("CnnPolicy", Pictures(), buffer_size=50, policy_kwargs={"net_arch": [6]})
    assert dqn.agent.plan.policy.config.act_fun == "relu"


def test_images_that_a_network_saw_as_they_are_are_refused_unless_they_are_the_same_here(
    tmp_path: Path,
) -> None:
    for low, high, dtype in ((0, 255, np.uint8), (-10, 10, np.float32)):
        path = written(tmp_path, OF_PPO, images(low, high, dtype), normalize_images=False)
        with pytest.raises(ValueError, match="normalize_images=False, but images"):
            PPO.load(path)
    model = PPO.load(written(tmp_path, OF_PPO, images(0, 1, np.float32), normalize_images=False))
    seen, n = SEEN / np.float32(255), network()
    features = n["features_extractor"](torch.from_numpy(SEEN).float())
    logits = n["action_net"](n["mlp_extractor.policy_net"](features))
    close(model.action_probability(seen), logits.softmax(1))
    kwargs = {"net_arch": {"pi": [6, 5], "vf": [7, 4]}, "normalize_images": False}
    n, name = actor_critic(3, 1) | {"log_std": torch.zeros(1)}, "common.policies.ActorCriticPolicy"
    model = PPO.load(saved(tmp_path, name, OF_PPO, n, **SWING, policy_kwargs=kwargs))
    mean = n["action_net"](n["mlp_extractor.policy_net"](PENDULUM))
    close(model.action_probability(PENDULUM.numpy())[0], mean)  # these are not images
    with pytest.raises(ValueError, match="normalize_images=False, but images"):
        PPO("CnnPolicy", Pictures(), policy_kwargs={"normalize_images": False})


@pytest.mark.parametrize("cls", [SAC, TD3, DDPG])
def test_heads_behind_the_cnn_have_256_each(cls: Any) -> None:
    env = Pictures(action_space=spaces.Box(-1, 1, (1,)))
    config = cls("CnnPolicy", env, buffer_size=256).agent.plan.policy.config
    assert (config.layers, config.act_fun) == ([256, 256], "relu")
    own = cls("CnnPolicy", env, buffer_size=256, policy_kwargs={"net_arch": [9]})
    assert own.agent.plan.policy.config.layers == [9]


def test_a_model_of_images_with_channels_first_acts_on_channels_last(tmp_path: Path) -> None:
    model = PPO.load(written(tmp_path, OF_PPO, images(0, 255, np.uint8)))
    last = np.moveaxis(SEEN, 1, -1)
    expected = model.predict(SEEN, deterministic=True)[0]
    assert model.predict(last, deterministic=True)[0].tolist() == expected.tolist()
    assert model.predict(last[0], deterministic=True)[0] == expected[0]
    assert evaluate_policy(model, Pictures(), n_eval_episodes=2) == (3.0, 0.0)
    with pytest.raises(ValueError, match=r"of shape \(2, 44, 44\)"):
        model.predict(last[:, :40])


@pytest.mark.parametrize("as_vector", [False, True])
def test_a_model_of_images_with_channels_first_learns_from_channels_last(
    tmp_path: Path, as_vector: bool
) -> None:
    path = written(tmp_path, OF_PPO, images(0, 255, np.uint8))
    model, given = PPO.load(path), PPO.load(path, env=Pictures())
    model.set_env(DummyVecEnv([Pictures]) if as_vector else Pictures())
    assert model.get_env().observation_space.shape == (2, 44, 44)
    last = np.moveaxis(SEEN, 1, -1)
    expected = given.predict(last, deterministic=True)[0].tolist()
    assert model.predict(last, deterministic=True)[0].tolist() == expected
    model.save(tmp_path / "here")  # by rlk, which knows the space that it has
    again = PPO.load(tmp_path / "here", env=DummyVecEnv([Pictures]) if as_vector else Pictures())
    assert again.predict(last, deterministic=True)[0].tolist() == expected
    assert model.learn(8).num_timesteps == 8
    for shape in ((44, 48, 2), (3, 44, 44)):
        with pytest.raises(ValueError, match="the observation_space of environment"):
            model.set_env(Pictures(shape))
    with pytest.raises(ValueError, match="set_env needs an environment, got None"):
        model.set_env(None)


def test_a_policy_without_a_cnn_gets_images_in_the_order_of_its_weights(tmp_path: Path) -> None:
    n = actor_critic(2 * 44 * 44, 3)
    kwargs = {"net_arch": {"pi": [6, 5], "vf": [7, 4]}}
    own = {"observation_space": images(0, 255, np.uint8), "action_space": discrete(3)}
    name = "common.policies.ActorCriticPolicy"
    path = saved(tmp_path, name, OF_PPO, n, **own, policy_kwargs=kwargs)
    seen = torch.from_numpy(SEEN).flatten(1) / 255
    logits = n["action_net"](n["mlp_extractor.policy_net"](seen))
    for env in (Pictures(), DummyVecEnv([Pictures]), Pictures((2, 44, 44))):
        model = PPO.load(path, env=env)
        assert model.get_env().observation_space.shape == (2, 44, 44)
        close(model.action_probability(SEEN), logits.softmax(1))
    last = np.moveaxis(SEEN, 1, -1)
    expected = logits.argmax(1).tolist()
    assert model.predict(last, deterministic=True)[0].tolist() == expected


def test_parts_of_a_dict_are_turned_too() -> None:
    class Both(Pictures):
        def __init__(self) -> None:
            super().__init__()
            parts = {"seen": spaces.Box(0, 255, (2, 44, 44), np.uint8)}
            self.observation_space = spaces.Dict({**parts, "speed": spaces.Box(-1, 1, (3,))})

    class Turned(Both):
        def __init__(self) -> None:
            super().__init__()
            parts = {"seen": spaces.Box(0, 255, (44, 44, 2), np.uint8)}
            self.observation_space = spaces.Dict({**self.observation_space.spaces, **parts})

    model = PPO("MultiInputPolicy", Both(), seed=0, n_steps=8, batch_size=8)
    speed = np.zeros((3, 3), np.float32)
    first = model.predict({"seen": SEEN, "speed": speed}, deterministic=True)[0]
    turned = {"seen": np.moveaxis(SEEN, 1, -1), "speed": speed}
    assert model.predict(turned, deterministic=True)[0].tolist() == first.tolist()
    model.set_env(Turned())
    assert model.get_env().observation_space == Both().observation_space
    assert model.learn(8).num_timesteps == 8


def has_one_cnn(model: Any) -> bool:
    return any(name.startswith("model/shared/") for name in model.get_parameters()["policy"])


@pytest.mark.parametrize("cls", [DDPG, SAC, TD3])
def test_actor_and_critics_have_each_their_own_cnn_unless_they_share_it(cls: Any) -> None:
    env = Pictures(action_space=spaces.Box(-1, 1, (1,)))
    small = {
        "buffer_size": 256,
        "policy_kwargs": {"features_extractor_kwargs": {"features_dim": 8}},
    }
    assert not has_one_cnn(cls("CnnPolicy", env, **small))
    small["policy_kwargs"]["share_features_extractor"] = True
    assert has_one_cnn(cls("CnnPolicy", env, **small))


def test_policy_and_value_share_a_cnn_unless_they_have_each_their_own() -> None:
    small: dict[str, Any] = {"features_extractor_kwargs": {"features_dim": 8}}
    assert has_one_cnn(PPO("CnnPolicy", Pictures(), policy_kwargs=small))
    small["share_features_extractor"] = False
    model = PPO("CnnPolicy", Pictures(), n_steps=8, batch_size=8, policy_kwargs=small).learn(8)
    assert not has_one_cnn(model)
