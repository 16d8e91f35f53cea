"""Files of RecurrentPPO of sb3-contrib, with torch.nn.LSTM as the reference."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from rlk_sb3 import PPO
from rlk_sb3_contrib import MaskablePPO, RecurrentPPO
from rlk_testing.tools.sb3_model_files import (
    CART,
    OF_PPO,
    SWING,
    Seen,
    close,
    dict_there,
    image_of,
    mlp,
    of_contrib,
)
from rlk_testing.tools.stable_baselines_pickles import discrete, image_box, packed, stand_in

RECURRENT = "sb3_contrib.common.recurrent.policies.Recurrent"
#: Where episodes of three environments begin, step by step.
STARTS = torch.tensor([[1, 1, 1], [0, 0, 1], [0, 1, 0], [0, 0, 0]], dtype=torch.bool)
LSTM = {"lstm_hidden_size": 5, "net_arch": {"pi": [6], "vf": [7, 4]}}


def recurrent(inputs: int, outputs: int, value: str, layers: int = 1) -> dict[str, Any]:
    """The networks of a RecurrentPPO; `value` as rlk's `value_lstm`."""
    torch.manual_seed(inputs + layers)
    found: dict[str, Any] = {
        "lstm_actor": nn.LSTM(inputs, 5, layers),
        "mlp_extractor.policy_net": mlp(5, 6, ends=True),
        "mlp_extractor.value_net": mlp(5, 7, 4, ends=True),
        "action_net": nn.Linear(6, outputs),
        "value_net": nn.Linear(4, 1),
    }
    if value == "own":
        found["lstm_critic"] = nn.LSTM(inputs, 5, layers)
    if value == "none":
        found["critic"] = nn.Linear(inputs, 5)
    return found


def steps_of(lstm: nn.LSTM, features: Any, states: Any, start: Any) -> tuple[Any, Any]:
    """The outputs [3, 5] of a step of three environments, and the states after it."""
    kept = (~start).float()[None, :, None]
    hidden, states = lstm(features[None], tuple(kept * one for one in states))
    return hidden[0], states


def zeros(lstm: nn.LSTM) -> Any:
    return tuple(torch.zeros(lstm.num_layers, 3, 5) for _ in range(2))


def as_here(*states: Any) -> torch.Tensor:
    """States of torch's LSTMs as rlk's array: hidden values and cells of each layer."""
    layers = [
        part for hidden, cell in states for pair in zip(hidden, cell, strict=True) for part in pair
    ]
    return torch.cat(layers, 1)


def check_steps(model: Any, n: dict[str, Any], observations: list[Any], features: Any) -> None:
    """Compare probabilities, actions, values and states over some steps with starting episodes.

    Args:
        model: the loaded model, with Discrete actions.
        n: the networks in its file.
        observations: those of each step.
        features: the function from observations to the features that LSTMs take.
    """
    module = model.agent.run.policy
    lstms = [n[name] for name in ("lstm_actor", "lstm_critic") if name in n]
    states, here = [zeros(lstm) for lstm in lstms], None
    for start, seen in zip(STARTS, observations, strict=True):
        x = features(seen)
        found = [steps_of(lstm, x, one, start) for lstm, one in zip(lstms, states, strict=True)]
        outputs, states = [one for one, _ in found], [after for _, after in found]
        of_value = n["critic"](x) if "critic" in n else outputs[-1]
        logits = n["action_net"](n["mlp_extractor.policy_net"](outputs[0]))
        before = torch.zeros(3, module.shared.state_size) if here is None else torch.tensor(here)
        close(model.action_probability(seen, here, start.numpy()), logits.softmax(1))
        actions, here = model.predict(seen, here, start.numpy(), deterministic=True)
        assert actions.tolist() == logits.argmax(1).tolist()
        close(here, as_here(*states))
        encoded, _ = module.shared.step(
            module.preprocess(model.policy.obs_to_tensor(seen)[0]), before, start
        )
        value = n["value_net"](n["mlp_extractor.value_net"](of_value))
        close(module.vf(encoded).detach().reshape(3, 1), value)


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize(
    ("value", "kwargs"),
    [
        ("own", {}),
        ("none", {"enable_critic_lstm": False}),
        ("shared", {"enable_critic_lstm": False, "shared_lstm": True}),
    ],
)
def test_a_recurrent_model_acts_judges_and_remembers_as_its_file_says(
    tmp_path: Path, value: str, kwargs: Any, layers: int
) -> None:
    n = recurrent(4, 2, value, layers)
    given = {**LSTM, **kwargs, **({"n_lstm_layers": 2} if layers == 2 else {})}
    path = of_contrib(tmp_path, f"{RECURRENT}ActorCriticPolicy", n, **CART, policy_kwargs=given)
    model = RecurrentPPO.load(path)
    assert (model.gamma, model.n_steps, model.agent.plan.policy.name) == (0.9, 8, "lstm")
    assert model.agent.plan.policy.config.value_lstm == value
    rng = np.random.default_rng(0)
    observations = [rng.normal(size=(3, 4)).astype(np.float32) for _ in STARTS]
    check_steps(model, n, observations, torch.from_numpy)
    model.save(tmp_path / "ours")
    check_steps(RecurrentPPO.load(tmp_path / "ours"), n, observations, torch.from_numpy)


def test_a_recurrent_model_of_images(tmp_path: Path) -> None:
    cnn = Seen(2, 16)
    n = recurrent(16, 2, "own") | {"features_extractor": cnn}
    images = image_box("gymnasium.spaces.box.Box", (2, 44, 44))
    kwargs = {**LSTM, "features_extractor_kwargs": {"features_dim": 16}}
    own = {"observation_space": images, "action_space": discrete(2), "policy_kwargs": kwargs}
    model = RecurrentPPO.load(of_contrib(tmp_path, f"{RECURRENT}ActorCriticCnnPolicy", n, **own))
    rng = np.random.default_rng(0)
    observations = [rng.integers(0, 256, (3, 2, 44, 44), np.uint8) for _ in STARTS]
    check_steps(model, n, observations, lambda seen: cnn(torch.from_numpy(seen).float()))


@pytest.mark.parametrize("value", ["own", "none"])
def test_a_recurrent_model_takes_the_keys_of_a_dict_in_the_order_of_its_file(
    tmp_path: Path, value: str
) -> None:
    cnn = Seen(1, 256)
    n = recurrent(256 + 2, 2, value) | {"features_extractor.extractors.near": cnn}
    space = dict_there({"near": image_of(1), "far": ([-1, -1], [1, 1], np.float32)})
    kwargs = {**LSTM, "enable_critic_lstm": value == "own"}
    own = {"observation_space": space, "action_space": discrete(2), "policy_kwargs": kwargs}
    path = of_contrib(tmp_path, f"{RECURRENT}MultiInputActorCriticPolicy", n, **own)
    rng = np.random.default_rng(0)
    observations = [
        {
            "far": rng.uniform(-1, 1, (3, 2)).astype(np.float32),
            "near": rng.integers(0, 256, (3, 1, 44, 44), np.uint8),
        }
        for _ in STARTS
    ]

    def features(seen: Any) -> torch.Tensor:
        near, far = (torch.from_numpy(seen[key]).float() for key in ("near", "far"))
        return torch.cat((cnn(near), far), 1)

    check_steps(RecurrentPPO.load(path), n, observations, features)


def test_a_recurrent_model_with_state_dependent_exploration(tmp_path: Path) -> None:
    n = recurrent(3, 1, "own") | {"log_std": torch.full((6, 1), -1.5)}
    settings = OF_PPO | {"use_sde": True}
    own = {**SWING, "policy_kwargs": LSTM}
    path = of_contrib(tmp_path, f"{RECURRENT}ActorCriticPolicy", n, settings, **own)
    seen, start = np.random.default_rng(0).normal(size=(3, 3)).astype(np.float32), STARTS[0]
    model = RecurrentPPO.load(path)
    mean, deviation = model.action_probability(seen, None, start.numpy())
    lstm = n["lstm_actor"]
    latent = n["mlp_extractor.policy_net"](
        steps_of(lstm, torch.from_numpy(seen), zeros(lstm), start)[0]
    )
    close(mean, n["action_net"](latent))
    variance = latent.square() @ torch.full((6, 1), -1.5).exp().square()
    close(deviation, (variance + 1e-6).sqrt())


def of_lstms(folder: Path, settings: Any = OF_PPO, **kwargs: Any) -> Path:
    """A file of a small RecurrentPPO for CartPole."""
    own = {**CART, "policy_kwargs": {**LSTM, **kwargs}}
    n = recurrent(4, 2, "own", kwargs.get("n_lstm_layers", 1))
    return of_contrib(folder, f"{RECURRENT}ActorCriticPolicy", n, settings, **own)


def test_a_recurrent_model_learns_on(tmp_path: Path) -> None:
    model = RecurrentPPO.load(of_lstms(tmp_path), env="CartPole-v1")
    before = model.get_parameters()["policy"]["model/shared/lstm/parts/0/wx"].clone()
    assert model.learn(8).num_timesteps == 8
    assert (model.get_parameters()["policy"]["model/shared/lstm/parts/0/wx"] != before).any()


def test_dropout_between_lstms_is_left_out_with_a_warning(tmp_path: Path) -> None:
    path = of_lstms(tmp_path, n_lstm_layers=2, lstm_kwargs={"dropout": 0.1})
    with pytest.warns(UserWarning, match=r"LSTMs had a dropout of 0.1 in training"):
        assert "lstm_kwargs" not in RecurrentPPO.load(path).policy_kwargs
    with pytest.raises(ValueError, match="policy_kwargs has lstm_kwargs"):
        RecurrentPPO.load(of_lstms(tmp_path, lstm_kwargs={"bias": False}))


@pytest.mark.parametrize(
    ("n_steps", "n_envs", "batch_size", "fitting"),
    [(100, 1, 64, 50), (101, 1, 32, 101), (8, 4, 25, 32), (8, 3, 13, 8)],
)
def test_minibatches_that_are_not_of_whole_sequences_become_others(
    tmp_path: Path, n_steps: int, n_envs: int, batch_size: int, fitting: int
) -> None:
    settings = OF_PPO | {"n_steps": n_steps, "n_envs": n_envs, "batch_size": batch_size}
    path = of_lstms(tmp_path, settings)
    with pytest.warns(UserWarning, match=f"batch_size is {batch_size} in the file, and {fitting}"):
        assert RecurrentPPO.load(path).batch_size == fitting
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert RecurrentPPO.load(path, batch_size=n_steps).batch_size == n_steps


@pytest.mark.parametrize("batch_size", [4, 8, 16, 32])
def test_minibatches_of_whole_sequences_stay(tmp_path: Path, batch_size: int) -> None:
    settings = OF_PPO | {"n_envs": 4, "batch_size": batch_size}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert RecurrentPPO.load(of_lstms(tmp_path, settings)).batch_size == batch_size


def files_with_other_networks(folder: Path) -> dict[str, Path]:
    """Files of networks that the recurrent policies here do not have, by the words for these."""
    with stand_in("program.Extractor") as kind:
        of_extractor = packed({**LSTM, "features_extractor_class": kind})
    n = recurrent(4, 2, "own")
    shared = recurrent(4, 2, "shared") | {"mlp_extractor.shared_net": mlp(5, 5, ends=True)}
    own = {"pi": [6], "vf": [7, 4]}
    words = "layers after the LSTM that policy and value function"
    files = {
        "a features_extractor_class, which the recurrent": (n, of_extractor),
        words: (shared, {**LSTM, "net_arch": [5, own]}),
        f"{words} share": (shared, {**LSTM, "net_arch": own}),
    }
    for number, (networks, kwargs) in enumerate(files.values()):
        (folder / str(number)).mkdir()
        own_settings: dict[str, Any] = {**CART, "policy_kwargs": kwargs}
        of_contrib(folder / str(number), f"{RECURRENT}ActorCriticPolicy", networks, **own_settings)
    return {words: folder / str(number) / "model.zip" for number, words in enumerate(files)}


def test_networks_that_recurrent_policies_do_not_have_are_refused(tmp_path: Path) -> None:
    model = RecurrentPPO.load(of_lstms(tmp_path))
    for words, path in files_with_other_networks(tmp_path).items():
        for read in (RecurrentPPO.load, model.set_parameters):
            with pytest.raises(ValueError, match=f"has {words}"):
                read(str(path))


def test_parameters_of_a_separate_lstm_do_not_fit_a_shared_one(tmp_path: Path) -> None:
    path = of_lstms(tmp_path)
    shared = {**LSTM, "shared_lstm": True, "enable_critic_lstm": False}
    sizes = {"n_steps": 8, "batch_size": 8}
    model = RecurrentPPO("MlpLstmPolicy", "CartPole-v1", **sizes, policy_kwargs=shared)
    with pytest.raises(ValueError, match="in the model it shares the policy's LSTM"):
        model.set_parameters(str(path))


def test_a_custom_policy_of_a_recurrent_model_is_passed_again(tmp_path: Path) -> None:
    own = {**CART, "policy_kwargs": LSTM}
    path = of_contrib(tmp_path, "program.Policy", recurrent(4, 2, "own"), **own)
    with pytest.raises(ValueError, match=r"a class of a program.*RecurrentPPO.load\(.*policy=…"):
        RecurrentPPO.load(path)


def test_models_of_contrib_are_not_loaded_by_other_classes(tmp_path: Path) -> None:
    path = of_lstms(tmp_path)
    wanted = r"sb3-contrib's RecurrentPPO, not of .*Write rlk_sb3_contrib.RecurrentPPO"
    for other in (PPO, MaskablePPO):
        with pytest.raises(ValueError, match=wanted):
            other.load(path)
