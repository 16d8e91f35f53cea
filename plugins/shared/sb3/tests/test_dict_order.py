"""Files of Stable-Baselines3 whose Dict has keys in an order that is not alphabetical."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium.spaces import Box, Dict
from torch import nn

from rlk_sb3 import A2C, DQN, PPO, SAC
from rlk_sb3.saved.dict_order import in_alphabetical_order
from rlk_testing.tools.sb3_model_files import (
    CART,
    OF_A2C,
    OF_DQN,
    OF_PPO,
    OF_SAC,
    SIZES,
    SWING,
    Seen,
    actor_critic,
    close,
    dict_there,
    image_of,
    mlp,
    saved,
)
from rlk_testing.tools.stable_baselines_pickles import object_there

PARTS: dict[str, Any] = {
    "speed": ([-1], [1], np.float32),
    "height": ([-1, -1], [1, 1], np.float32),
}
ACTOR_CRITIC = "common.policies.MultiInputActorCriticPolicy"
OBSERVATION = {
    "speed": np.array([[0.5], [-0.2]], np.float32),
    "height": np.array([[0.1, 0.9], [-0.4, 0.3]], np.float32),
}
FEATURES = torch.from_numpy(np.concatenate((OBSERVATION["speed"], OBSERVATION["height"]), 1))


def seen(parts: dict[str, Any], spaces: dict[str, Any]) -> dict[str, Any]:
    return {**spaces, "observation_space": dict_there(parts)}


def test_actor_critics(tmp_path: Path) -> None:
    n = actor_critic(3, 2)
    own = {**seen(PARTS, CART), **SIZES}
    size = {"features_extractor_kwargs": {"cnn_output_dim": 64}}  # no effect without images
    own["policy_kwargs"] = {**SIZES["policy_kwargs"], **size}
    model = PPO.load(saved(tmp_path, ACTOR_CRITIC, OF_PPO, n, **own))
    logits = n["action_net"](n["mlp_extractor.policy_net"](FEATURES))
    close(model.action_probability(OBSERVATION), logits.softmax(1))
    tensors, _ = model.policy.obs_to_tensor(OBSERVATION)
    value = n["value_net"](n["mlp_extractor.value_net"](FEATURES))
    close(model.policy.predict_values(tensors).detach(), value)


def test_output_layers_that_take_the_features_themselves(tmp_path: Path) -> None:
    torch.manual_seed(0)
    n: dict[str, Any] = {"action_net": nn.Linear(3, 1), "value_net": nn.Linear(3, 1)}
    n["log_std"] = torch.tensor([-0.3])
    own = {**seen(PARTS, SWING), "policy_kwargs": {"net_arch": []}}
    model = A2C.load(saved(tmp_path, ACTOR_CRITIC, OF_A2C, n, **own))
    close(model.action_probability(OBSERVATION)[0], n["action_net"](FEATURES))


def test_shared_layers_are_the_only_ones_that_take_the_features() -> None:
    names = ("shared_net.0", "policy_net.0", "value_net.0")
    given = {f"mlp_extractor.{name}.weight": np.eye(3, dtype=np.float32) for name in names}
    given |= {f"{name}_net.weight": np.eye(3, dtype=np.float32) for name in ("action", "value")}
    space = space_of_parts()
    found = in_alphabetical_order(given, ["speed", "height"], space)
    moved = {name for name in given if not np.array_equal(given[name], found[name])}
    assert moved == {"mlp_extractor.shared_net.0.weight"}
    np.testing.assert_array_equal(found["mlp_extractor.shared_net.0.weight"][0], [0, 0, 1])


def space_of_parts() -> Any:
    return Dict({key: Box(np.float32(-1), np.float32(1), (len(PARTS[key][0]),)) for key in PARTS})


def test_an_image_has_the_features_of_its_cnn(tmp_path: Path) -> None:
    cnn = Seen(1, 256)
    n: dict[str, Any] = {
        f"q_net{suffix}.features_extractor.extractors": nn.ModuleDict({"far": cnn})
        for suffix in ("", "_target")
    }
    head = mlp(1 + 256 + 2, 6, 2, activation=nn.ReLU)
    n |= {"q_net.q_net": head, "q_net_target.q_net": head}
    parts = {"speed": PARTS["speed"], "far": image_of(1), "close": PARTS["height"]}
    own = {**seen(parts, CART), "policy_kwargs": {"net_arch": [6]}}
    model = DQN.load(saved(tmp_path, "dqn.policies.MultiInputPolicy", OF_DQN, n, **own))
    image = np.random.default_rng(0).integers(0, 256, (2, 1, 44, 44), np.uint8)
    observation = {"speed": OBSERVATION["speed"], "far": image, "close": OBSERVATION["height"]}
    tensors, _ = model.policy.obs_to_tensor(observation)
    far = cnn(torch.from_numpy(image).float())
    expected = head(torch.cat((FEATURES[:, :1], far, FEATURES[:, 1:]), 1))
    algorithm: Any = model.agent.run.algorithm
    for module in (algorithm.policy, algorithm.target.module):
        close(module(tensors, "qf")[0].detach(), expected)


def test_critics_take_the_actions_after_the_features(tmp_path: Path) -> None:
    n: dict[str, Any] = {
        "actor.latent_pi": mlp(3, 6, activation=nn.ReLU, ends=True),
        "actor.mu": nn.Linear(6, 1),
        "actor.log_std": nn.Linear(6, 1),
    }
    for suffix in ("", "_target"):
        n |= {f"critic{suffix}.qf{c}": mlp(4, 6, 1, activation=nn.ReLU) for c in (0, 1)}
    own = {**seen(PARTS, SWING), "policy_kwargs": {"net_arch": [6]}}
    variables = {"log_ent_coef": torch.tensor([0.0])}
    path = saved(tmp_path, "sac.policies.MultiInputPolicy", OF_SAC, n, variables, **own)
    model: Any = SAC.load(path)
    mean = n["actor.mu"](n["actor.latent_pi"](FEATURES))
    close(model.predict(OBSERVATION, deterministic=True)[0], 2 * mean.tanh())
    policy, actions = model.agent.run.policy, torch.tensor([[0.3], [-0.8]])
    tensors, _ = model.policy.obs_to_tensor(OBSERVATION)
    found = policy.qf(policy.encode(tensors), actions)[0]
    close(found.detach(), n["critic.qf0"](torch.cat((FEATURES, actions), 1))[:, 0])


def test_a_custom_extractor_is_refused(tmp_path: Path) -> None:
    own = seen(PARTS, CART)
    own["policy_kwargs"] = {"features_extractor_class": object_there("program.Extractor")}
    path = saved(tmp_path, ACTOR_CRITIC, OF_PPO, actor_critic(3, 2), **own)
    with pytest.raises(ValueError, match=r"in the order speed, height, and here .* alphabetical"):
        PPO.load(path)


def test_a_replay_smaller_than_a_batch_is_enlarged(tmp_path: Path) -> None:
    n: dict[str, Any] = {"q_net.q_net": mlp(4, 6, 2), "q_net_target.q_net": mlp(4, 6, 2)}
    own = {**CART, "policy_kwargs": {"net_arch": [6]}, "buffer_size": 3}
    settings = {**OF_DQN, "batch_size": 8}
    path = saved(tmp_path, "dqn.policies.DQNPolicy", settings, n, **own)
    with pytest.warns(UserWarning, match="buffer_size=3 is less than a batch: it is 8"):
        assert DQN.load(path).buffer_size == 8
