"""Feature extractors, as in Stable-Baselines3."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces
from torch import nn

from rlk.errors import PlanError, RlkError
from rlk_sb3 import A2C, DQN, PPO, SAC, TD3
from rlk_sb3.common.torch_layers import (
    BaseFeaturesExtractor,
    CombinedExtractor,
    FlattenExtractor,
    NatureCNN,
)
from rlk_sb3.common.vec_env import DummyVecEnv
from rlk_testing.environments.given_spaces import BOTH, PICTURE, SEEN, SMALL, SPACES, Given, close


class SmallCnn(BaseFeaturesExtractor):
    """As in Stable-Baselines3's documentation: it encodes a sample image [C, H, W]."""

    def __init__(self, observation_space: Any, features_dim: int = 256) -> None:
        super().__init__(observation_space, features_dim)
        channels = observation_space.shape[0]
        self.cnn = nn.Sequential(nn.Conv2d(channels, 4, 8, stride=4), nn.ReLU(), nn.Flatten())
        with torch.no_grad():
            sample = torch.as_tensor(observation_space.sample()[None]).float()
            n_flatten = self.cnn(sample).shape[1]
        self.linear = nn.Sequential(nn.Linear(n_flatten, features_dim), nn.ReLU())

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        features: torch.Tensor = self.linear(self.cnn(observations))
        return features


class Combined(BaseFeaturesExtractor):
    """Encodes an image and a vector, each by its own module."""

    def __init__(self, observation_space: Any) -> None:
        super().__init__(observation_space, 8)
        self.seen = SmallCnn(observation_space.spaces["seen"], 6)
        self.speed = nn.Linear(observation_space.spaces["speed"].shape[0], 2)

    def forward(self, observations: Any) -> torch.Tensor:
        return torch.cat([self.seen(observations["seen"]), self.speed(observations["speed"])], 1)


class FrozenWaves(BaseFeaturesExtractor):
    def __init__(self, observation_space: Any) -> None:
        super().__init__(observation_space, 3)
        self.first = nn.Linear(observation_space.shape[0], 4).requires_grad_(False)
        self.second = nn.Linear(4, 3)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        features: torch.Tensor = self.second(torch.sin(self.first(observations)))
        return features


class ThawedWaves(FrozenWaves):
    def __init__(self, observation_space: Any) -> None:
        super().__init__(observation_space)
        self.first.requires_grad_(True)


class Waves(BaseFeaturesExtractor):
    def __init__(self, observation_space: Any, features_dim: int = 5, wide: int = 4) -> None:
        super().__init__(observation_space, features_dim)
        self.first = nn.Linear(observation_space.shape[0], wide)
        self.second = nn.Linear(wide, features_dim)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        features: torch.Tensor = self.second(torch.sin(self.first(observations)))
        return features


def with_extractor(
    kind: Any, keywords: Any = None, policy: str = "CnnPolicy", space: Any = PICTURE, **others: Any
) -> Any:
    kwargs = {"features_extractor_class": kind, "features_extractor_kwargs": keywords, **others}
    return PPO(policy, Given(None, space), **SMALL, policy_kwargs=kwargs)


def pictures(n: int = 5) -> Any:
    return np.random.default_rng(1).integers(0, 256, (n, 40, 44, 2), np.uint8)


def layers_behind(model: Any, role: str) -> list[tuple[int, ...]]:
    return [tuple(one.weight.shape) for one in getattr(model.policy, role).trunk.layers]


def test_an_extractor_sees_images_with_channels_first_between_0_and_1() -> None:
    model = with_extractor(SmallCnn, {"features_dim": 12})
    own = SmallCnn(spaces.Box(0, 255, (2, 40, 44), np.uint8), 12)
    names = {name: value.shape for name, value in own.state_dict().items()}
    extractor = model.policy.shared.extractor
    assert {name: value.shape for name, value in extractor.state_dict().items()} == names
    seen = pictures()
    own.load_state_dict(extractor.state_dict())
    expected = own(torch.from_numpy(np.moveaxis(seen, -1, 1)).float() / 255)
    close(model.policy.encode(torch.from_numpy(seen)), expected)
    first = spaces.Box(0, 255, (2, 40, 44), np.uint8)
    turned = with_extractor(SmallCnn, {"features_dim": 12}, space=first)
    turned.policy.load_state_dict(model.policy.state_dict())
    close(turned.policy.encode(torch.from_numpy(np.moveaxis(seen, -1, 1).copy())), expected)


def test_an_extractor_of_an_actor_critic_begins_orthogonal_with_two_layers_behind_it() -> None:
    model = with_extractor(SmallCnn, {"features_dim": 12})
    assert layers_behind(model, "pi") == layers_behind(model, "vf") == [(12, 64), (64, 64)]
    linear = model.policy.shared.extractor.linear[0]
    close(linear.weight @ linear.weight.T, 2 * torch.eye(12))
    assert not linear.bias.any()
    own = with_extractor(SmallCnn, {"features_dim": 12}, net_arch={"pi": [7], "vf": []})
    assert (layers_behind(own, "pi"), layers_behind(own, "vf")) == ([(12, 7)], [])


def test_an_extractor_is_learnt() -> None:
    model = with_extractor(SmallCnn, {"features_dim": 12})
    before = copy.deepcopy(model.policy.shared.state_dict())
    model.learn(16)
    after = model.policy.shared.state_dict()
    assert all(not torch.equal(before[name], after[name]) for name in before)
    model.set_env(DummyVecEnv([lambda: Given(None, PICTURE)] * 2))  # the agent is made anew
    close(model.policy.shared.state_dict(), after)
    model.learn(16)


@pytest.mark.parametrize("cls", [PPO, A2C, DQN, SAC, TD3])
def test_an_extractor_of_numbers_learns_with_every_algorithm(cls: Any) -> None:
    kwargs = {"features_extractor_class": Waves, "features_extractor_kwargs": {"wide": 7}}
    is_off_policy = cls in (DQN, SAC, TD3)
    settings = {"buffer_size": 256, "learning_starts": 8} if is_off_policy else {"n_steps": 8}
    if cls is not A2C:
        settings["batch_size"] = 4
    env = Given(SPACES["Discrete" if cls is DQN else "Box"])
    model = cls("MlpPolicy", env, seed=0, policy_kwargs=kwargs, **settings).learn(16)
    policy = model.policy
    encoders = [policy.pi.trunk.encoder, policy.qf.trunk.encoder] if cls in (SAC, TD3) else []
    for encoder in encoders or [policy.shared]:
        assert encoder.extractor.first.weight.shape == (7, 3)
    if encoders:
        with pytest.raises(AttributeError, match="features_extractor_class that all networks"):
            _ = policy.features_extractor
    else:
        assert policy.features_extractor is policy.shared.extractor
    assert model.predict(SEEN)[0].shape[0] == 5


def test_an_extractor_is_given_the_parts_of_a_dict() -> None:
    model = with_extractor(Combined, None, "MultiInputPolicy", BOTH).learn(8)
    seen = {"seen": pictures(), "speed": SEEN}
    images = torch.from_numpy(np.moveaxis(seen["seen"], -1, 1)).float() / 255
    parts = {"seen": images, "speed": torch.from_numpy(SEEN)}
    expected = model.policy.shared.extractor(parts)
    tensors, _ = model.policy.obs_to_tensor(seen)
    close(model.policy.encode(tensors), expected)


def test_the_nature_cnn_is_the_one_that_cnn_policy_has() -> None:
    model = with_extractor(NatureCNN, {"features_dim": 32})
    assert layers_behind(model, "pi") == layers_behind(model, "vf") == []
    own = PPO(
        "CnnPolicy",
        Given(None, PICTURE),
        **SMALL,
        policy_kwargs={"features_extractor_kwargs": {"features_dim": 32}},
    )
    names = ["conv1", "conv2", "conv3", "full"]
    cnn = model.policy.shared.extractor
    layers = [cnn.cnn[0], cnn.cnn[2], cnn.cnn[4], cnn.linear[0]]
    for name, layer in zip(names, layers, strict=True):
        getattr(own.policy.shared, name).load_state_dict(layer.state_dict())
    seen = torch.from_numpy(pictures())
    close(own.policy.encode(seen), model.policy.encode(seen))
    numbers = with_extractor(FlattenExtractor, None, "MlpPolicy", spaces.Box(-5, 5, (3,)))
    assert torch.equal(numbers.policy.encode(torch.from_numpy(SEEN)), torch.from_numpy(SEEN))


def test_the_size_of_the_cnns_of_a_dict_is_a_keyword() -> None:
    kwargs = {"features_extractor_kwargs": {"cnn_output_dim": 9}}
    model = PPO("MultiInputPolicy", Given(None, BOTH), **SMALL, policy_kwargs=kwargs)
    assert model.policy.shared.features == 9 + 3


def test_the_size_of_the_cnns_of_a_dict_has_no_effect_without_images(tmp_path: Any) -> None:
    kwargs = {"features_extractor_kwargs": {"cnn_output_dim": 9}}
    inner = spaces.Dict({"height": spaces.Box(-5, 5, (2,))})
    for space in (spaces.Dict({"speed": spaces.Box(-5, 5, (3,))}), spaces.Dict({"robot": inner})):
        model = PPO("MultiInputPolicy", Given(None, space), **SMALL, policy_kwargs=kwargs)
        assert model.policy.shared.features == (3 if "speed" in space.spaces else 2)
        model.save(tmp_path / "model")
        assert PPO.load(tmp_path / "model").policy_kwargs == kwargs


def test_a_model_with_an_extractor_is_loaded_by_passing_it_again(tmp_path: Any) -> None:
    model = with_extractor(SmallCnn, {"features_dim": 12}).learn(8)
    model.save(tmp_path / "model")
    again = PPO.load(tmp_path / "model", policy_kwargs=model.policy_kwargs)
    seen = torch.from_numpy(pictures())
    close(again.policy.predict_values(seen), model.policy.predict_values(seen))
    custom = {"policy_kwargs": model.policy_kwargs}
    again = PPO.load(tmp_path / "model", Given(None, PICTURE), custom_objects=custom)
    again.learn(8)
    text = r"PPO\.load\(path, policy_kwargs=dict\(features_extractor_class=SmallCnn, features_"
    with pytest.raises(ValueError, match=text):
        PPO.load(tmp_path / "model")


def test_what_is_no_extractor_is_refused() -> None:
    with pytest.raises(ValueError, match=r"as a class derived from .*BaseFeaturesExtractor"):
        with_extractor(object)
    with pytest.raises(ValueError, match="'MlpLstmPolicy' takes no features_extractor_class"):
        with_extractor(Waves, None, "MlpLstmPolicy", net_arch=["lstm"])
    with pytest.raises(ValueError, match="has no wide for features_extractor_kwargs without"):
        with_extractor(None, {"wide": 3}, "MlpPolicy", spaces.Box(-5, 5, (3,)))
    with pytest.raises(ValueError, match="there is features_dim"):
        with_extractor(None, {"wide": 3})
    with pytest.raises(PlanError, match="features_dim=0"):
        BaseFeaturesExtractor(PICTURE)
    with pytest.raises(ValueError, match="NatureCNN takes images of whole numbers"):
        with_extractor(NatureCNN, None, "MlpPolicy", spaces.Box(-5, 5, (3,)))


def test_parts_of_a_dict_are_put_side_by_side() -> None:
    space = spaces.Dict(
        {"image": spaces.Box(0, 255, (3, 40, 44), np.uint8), "speed": spaces.Box(-1, 1, (2,))}
    )
    own = {"cnn_output_dim": 5}
    kwargs = {"features_extractor_class": CombinedExtractor, "features_extractor_kwargs": own}
    model = PPO("MultiInputPolicy", Given(None, space), **SMALL, policy_kwargs=kwargs).learn(8)
    (extractor,) = (one for one in model.policy.modules() if isinstance(one, CombinedExtractor))
    assert extractor.features_dim == 7 and set(extractor.extractors) == {"image", "speed"}
    seen = {"image": torch.zeros(2, 3, 40, 44), "speed": torch.tensor([[1.0, 2.0], [3.0, 4.0]])}
    torch.testing.assert_close(extractor(seen)[:, 5:], seen["speed"])


def test_an_extractor_says_how_many_features_it_gives() -> None:
    with pytest.raises(PlanError, match="Flatten does not say how many features it gives"):
        PPO("MlpPolicy", Given(), **SMALL, policy_kwargs={"features_extractor_class": nn.Flatten})
    with pytest.raises(PlanError, match="a Dict is CombinedExtractor's"):
        FlattenExtractor(BOTH)


@pytest.mark.parametrize("kind", [PPO, DQN])
def test_layers_that_the_extractor_freezes_do_not_learn(kind: Any) -> None:
    sizes = {"batch_size": 8, **({"n_steps": 16} if kind is PPO else {"learning_starts": 4})}
    kwargs = {"features_extractor_class": FrozenWaves}
    model = kind("MlpPolicy", "CartPole-v1", policy_kwargs=kwargs, seed=0, **sizes)
    before = copy.deepcopy(model.policy.state_dict())
    after = model.learn(16).policy.state_dict()
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert "shared.extractor.second.weight" in changed
    assert not [name for name in changed if "first" in name]


class Normalizing(FrozenWaves):
    def __init__(self, observation_space: Any) -> None:
        super().__init__(observation_space)
        self.norm = nn.BatchNorm1d(3)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        normalized: torch.Tensor = self.norm(super().forward(observations))
        return normalized


@pytest.mark.parametrize("kind", [PPO, DQN])
def test_parameters_that_are_set_include_statistics_and_frozen_layers(
    kind: Any, tmp_path: Path
) -> None:
    sizes = {"batch_size": 8, **({"n_steps": 16} if kind is PPO else {"learning_starts": 4})}
    kwargs = {"features_extractor_class": Normalizing}
    trained, *others = (
        kind("MlpPolicy", "CartPole-v1", policy_kwargs=kwargs, seed=seed, **sizes)
        for seed in range(5)
    )
    trained.learn(16).save(tmp_path / "model")
    state = copy.deepcopy(trained.policy.state_dict())
    others[0].set_parameters(trained.get_parameters())
    others[1].set_parameters(str(tmp_path / "model"))
    others[2].set_parameters({"policy": state}, exact_match=kind is PPO)
    others[3].policy.load_state_dict(trained.get_parameters()["policy"])
    for other in others:
        assert state["shared.extractor.norm.num_batches_tracked"] > 0
        assert all(torch.equal(other.policy.state_dict()[name], state[name]) for name in state)
    wrong = {"model/shared/extractor/norm/running_mean": torch.zeros(1)}
    with pytest.raises(RuntimeError, match=r"running_mean' has shape \(3,\) here and \(1,\) there"):
        trained.set_parameters({"policy": wrong}, exact_match=False)


def test_layers_that_are_unfrozen_later_are_refused_and_trained_in_another_model() -> None:
    def model_with(kind: Any) -> Any:
        kwargs = {"features_extractor_class": kind}
        return PPO("MlpPolicy", Given(None), **SMALL, policy_kwargs=kwargs)

    model = model_with(FrozenWaves)
    model.learn(8)
    model.policy.shared.extractor.first.requires_grad_(True)
    with pytest.raises(RlkError, match=r"extractor.first.weight'\] take gradients .*other_policy"):
        model.learn(8)
    other = model_with(ThawedWaves)
    other.policy.load_state_dict(model.policy.state_dict())
    before = other.policy.state_dict()["shared.extractor.first.weight"].clone()
    close(before, model.policy.shared.extractor.first.weight)
    other.learn(8)
    assert not torch.equal(before, other.policy.state_dict()["shared.extractor.first.weight"])
