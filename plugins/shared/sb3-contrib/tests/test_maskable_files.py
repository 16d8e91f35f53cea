"""Files of MaskablePPO of sb3-contrib, and of its classes that are not loaded."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from rlk_sb3 import PPO
from rlk_sb3_contrib import MaskablePPO
from rlk_testing.tools.sb3_model_files import (
    OF_PPO,
    OF_SAC,
    SIZES,
    SWING,
    Seen,
    actor_critic,
    close,
    dict_there,
    image_of,
    of_contrib,
)
from rlk_testing.tools.stable_baselines_pickles import discrete, object_there
from rlk_toy_environments.identity import IdentityEnv
from rlk_toy_environments.masked_identity import MaskedIdentityEnv

MASKABLE = "sb3_contrib.common.maskable.policies.Maskable"
BUFFER = "sb3_contrib.common.maskable.buffers.MaskableRolloutBuffer"
OF_MASKS = OF_PPO | {"rollout_buffer_class": object_there(BUFFER)}


MASKS = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]], bool)
THREE = {"observation_space": discrete(3), "action_space": discrete(3)}


def masked_softmax(logits: torch.Tensor) -> torch.Tensor:
    return logits.masked_fill(~torch.from_numpy(MASKS), -np.inf).softmax(1)


def test_a_masked_model_acts_and_judges_as_its_file_says(tmp_path: Path) -> None:
    n = actor_critic(3, 3)
    path = of_contrib(tmp_path, f"{MASKABLE}ActorCriticPolicy", n, OF_MASKS, **THREE, **SIZES)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = MaskablePPO.load(path)
    assert (model.gamma, model.clip_range) == (0.9, 0.1)
    seen, one_hot = np.arange(3), torch.eye(3)
    expected = masked_softmax(n["action_net"](n["mlp_extractor.policy_net"](one_hot)))
    tensors, _ = model.policy.obs_to_tensor({"observation": seen, "action_mask": MASKS})
    close(model.policy.get_distribution(tensors).distribution.probs.detach(), expected)
    actions, _ = model.predict(seen, deterministic=True, action_masks=MASKS)
    assert actions.tolist() == expected.argmax(1).tolist()
    value = n["value_net"](n["mlp_extractor.value_net"](one_hot))
    close(model.policy.predict_values(tensors).detach(), value)


def test_switches_of_a_masked_model_have_one_logit_instead_of_two(tmp_path: Path) -> None:
    n = actor_critic(3, 4)
    switches = object_there("gymnasium.spaces.multi_binary.MultiBinary", n=2)
    own = {**THREE, "action_space": switches, **SIZES}
    path = of_contrib(tmp_path, f"{MASKABLE}ActorCriticPolicy", n, OF_MASKS, **own)
    model = MaskablePPO.load(path)
    masks = torch.tensor([[1, 1, 1, 1], [1, 0, 1, 1], [0, 1, 1, 0]], dtype=torch.bool)
    logits = n["action_net"](n["mlp_extractor.policy_net"](torch.eye(3)))
    logits = logits.masked_fill(~masks, -np.inf)
    on = logits.reshape(3, 2, 2).softmax(2)[..., 1]  # of each switch: off, on
    seen = {"observation": np.arange(3), "action_mask": masks.numpy()}
    tensors, _ = model.policy.obs_to_tensor(seen)
    close(model.policy.get_distribution(tensors).distribution.probs.detach(), on)


def test_switches_have_the_same_probabilities_with_and_without_masks(tmp_path: Path) -> None:
    """A file's logits are counted, whichever class takes its parameters."""
    switches = object_there("gymnasium.spaces.multi_binary.MultiBinary", n=2)
    own = {**THREE, "action_space": switches, **SIZES}
    files = {}
    for kind, policy, settings, n_logits in (
        (PPO, "stable_baselines3.common.policies.ActorCriticPolicy", OF_PPO, 2),
        (MaskablePPO, f"{MASKABLE}ActorCriticPolicy", OF_MASKS, 4),
    ):
        (tmp_path / kind.__name__).mkdir()
        n = actor_critic(3, n_logits)
        files[kind] = of_contrib(tmp_path / kind.__name__, policy, n, settings, **own)
    for kind, other in ((PPO, MaskablePPO), (MaskablePPO, PPO)):
        model, there = kind.load(files[kind]), other.load(files[other])
        model.set_parameters(str(files[other]))
        found, wanted = (one.get_parameters()["policy"] for one in (model, there))
        for ours, theirs in zip(found.values(), wanted.values(), strict=True):
            assert torch.equal(ours, theirs)


def test_a_masked_model_learns_on_and_is_saved(tmp_path: Path) -> None:
    n, name = actor_critic(3, 3), f"{MASKABLE}ActorCriticPolicy"
    path = of_contrib(tmp_path, name, n, OF_MASKS, **THREE, **SIZES)
    with pytest.raises(ValueError, match=r"has no method action_masks\(\)"):
        MaskablePPO.load(path, env=IdentityEnv(3))
    model = MaskablePPO.load(path, env=MaskedIdentityEnv(3), seed=0).learn(64)
    name = "model/pi/head/out/weight"
    learnt = model.get_parameters()["policy"][name]
    assert (n["action_net"].weight != learnt.T).any()
    model.save(tmp_path / "ours")
    assert (MaskablePPO.load(tmp_path / "ours").get_parameters()["policy"][name] == learnt).all()


def test_a_masked_model_of_a_dict_with_an_image(tmp_path: Path) -> None:
    cnn = Seen(1, 256)
    n = {
        "features_extractor.extractors.near": cnn,
        "action_net": nn.Linear(256 + 2, 3),
        "value_net": nn.Linear(256 + 2, 1),
    }
    space = dict_there({"near": image_of(1), "far": ([-1, -1], [1, 1], np.float32)})
    own: dict[str, Any] = {"observation_space": space, "action_space": discrete(3)}
    own |= {"policy_kwargs": {"net_arch": []}}
    name = f"{MASKABLE}MultiInputActorCriticPolicy"
    model = MaskablePPO.load(of_contrib(tmp_path, name, n, OF_MASKS, **own))
    rng = np.random.default_rng(0)
    near = rng.integers(0, 256, (3, 1, 44, 44), np.uint8)
    far = rng.uniform(-1, 1, (3, 2)).astype(np.float32)
    features = torch.cat((cnn(torch.from_numpy(near).float()), torch.from_numpy(far)), 1)
    expected = masked_softmax(n["action_net"](features))
    seen = {"near": near, "far": far}
    tensors, _ = model.policy.obs_to_tensor({**seen, "action_mask": MASKS})
    close(model.policy.get_distribution(tensors).distribution.probs.detach(), expected)
    close(model.policy.predict_values(tensors).detach(), n["value_net"](features))


def test_a_custom_policy_of_a_masked_model_is_passed_again(tmp_path: Path) -> None:
    n = actor_critic(3, 3)
    path = of_contrib(tmp_path, "program.Policy", n, OF_MASKS, **THREE, **SIZES)
    with pytest.raises(ValueError, match=r"a class of a program.*MaskablePPO.load\(.*policy=…"):
        MaskablePPO.load(path)
    assert MaskablePPO.load(path, policy="MlpPolicy").agent.plan.policy.name == "mlp"


@pytest.mark.parametrize(
    ("policy", "name", "instead"),
    [
        ("sb3_contrib.tqc.policies.TQCPolicy", "TQC", "SAC or TD3 of rlk_sb3"),
        ("sb3_contrib.qrdqn.policies.QRDQNPolicy", "QRDQN", "DQN of rlk_sb3"),
        (
            "sb3_contrib.ars.policies.ARSLinearPolicy",
            "ARS",
            "an algorithm of rlk: rlk plugins list",
        ),
        (
            "sb3_contrib.crossq.policies.CrossQPolicy",
            "CrossQ",
            "an algorithm of rlk: rlk plugins list",
        ),
    ],
)
def test_other_models_of_contrib_are_refused_with_what_to_use(
    tmp_path: Path, policy: str, name: str, instead: str
) -> None:
    path = of_contrib(tmp_path, policy, {}, OF_SAC, **SWING)
    wanted = rf"sb3-contrib's {name}, which is not loaded: only .* and TRPO, are.*use {instead}"
    with pytest.raises(ValueError, match=wanted):
        MaskablePPO.load(path)
