"""`policy_kwargs` of Stable-Baselines3: standard deviations, initial weights, the optimiser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import optim

from rlk_baselines.common.policies import FeedForwardPolicy
from rlk_baselines.refusals import Refused
from rlk_sb3 import A2C, DDPG, DQN, PPO, SAC, TD3
from rlk_sb3_contrib import RecurrentPPO

SDE = {"use_sde": True, "n_steps": 64}


def ppo(env: str = "Pendulum-v1", **given: Any) -> Any:
    kwargs = {key: given.pop(key) for key in list(given) if key not in ("use_sde", "n_steps")}
    return PPO("MlpPolicy", env, seed=0, policy_kwargs=kwargs, **given)


def log_std(model: Any) -> torch.Tensor:
    found: torch.Tensor = model.policy.state_dict()["pi.out.log_std"]
    return found


def test_deviations_of_exploration_that_depends_on_the_state(tmp_path: Any) -> None:
    model = ppo(log_std_init=-1.5, full_std=False, use_expln=True, **SDE)
    assert log_std(model).shape == (64, 1) and log_std(model).eq(-1.5).all()
    settings = model.agent.plan.distribution.config
    assert settings.use_expln and not settings.squash_output
    model.save(tmp_path / "model")
    again = PPO.load(tmp_path / "model", env="Pendulum-v1").learn(64)
    assert again.agent.plan.distribution.config == settings
    assert ppo(squash_output=True, **SDE).agent.plan.distribution.config.squash_output


def test_deviations_that_do_not_depend_on_it() -> None:
    for model in (ppo(log_std_init=-1.5), A2C("MlpPolicy", "Pendulum-v1", seed=0)):
        expected = -1.5 if isinstance(model, PPO) else 0.0
        assert log_std(model).tolist() == [expected]
    # As in Stable-Baselines3, keywords without effect are accepted; test_without_effect.py tests
    # the warnings.
    assert ppo("CartPole-v1", log_std_init=-1.5, full_std=True).agent.plan.distribution
    kwargs = {"log_std_init": -3.0, "net_arch": [8]}
    SAC("MlpPolicy", "Pendulum-v1", buffer_size=256, policy_kwargs=kwargs)
    explores = SAC("MlpPolicy", "Pendulum-v1", buffer_size=256, policy_kwargs=kwargs, use_sde=True)
    assert log_std(explores).eq(-3.0).all()
    with pytest.raises(Refused, match="squash_output=True, which needs use_sde=True"):
        ppo(squash_output=True)


def test_weights_need_not_begin_orthogonal() -> None:
    usual, other = (
        ppo(ortho_init=given).policy.state_dict()["pi.trunk.layers.1.weight"]
        for given in (True, False)
    )
    assert (usual.T @ usual).allclose(2 * torch.eye(64), atol=1e-4)
    assert other.abs().max() <= 1 / 8 and other.abs().max() > 0.12  # uniform: 1 / sqrt(inputs)
    usual, other = (
        ppo(ortho_init=given).policy.state_dict()["pi.out.mean.weight"].abs().max()
        for given in (True, False)
    )
    assert usual < 0.01 < 0.11 < other <= 1 / 8


def test_off_policy_they_begin_as_pytorchs_layers_do() -> None:
    def weights(**kwargs: Any) -> torch.Tensor:
        model = DQN("MlpPolicy", "CartPole-v1", buffer_size=256, policy_kwargs=kwargs, seed=0)
        found: torch.Tensor = model.policy.state_dict()["qf.trunk.layers.1.weight"]
        return found

    for usual in weights(), weights(ortho_init=False):
        assert 0.12 < usual.abs().max() <= 1 / 8
    other = weights(init="orthogonal")
    assert (other.T @ other).allclose(2 * torch.eye(64), atol=1e-4)


def test_an_optimiser_that_is_the_one_there_is_may_be_named() -> None:
    kwargs = {"optimizer_class": optim.Adam, "optimizer_kwargs": {"eps": 1e-5}}
    model = ppo(**kwargs).learn(64)
    assert model.agent.plan.optimiser.name == "adam"


@pytest.mark.parametrize(
    ("kwargs", "kind", "arguments"),
    [
        ({"optimizer_class": optim.SGD}, "SGD", {"momentum": 0, "nesterov": False}),
        (
            {"optimizer_class": optim.AdamW, "optimizer_kwargs": {"weight_decay": 0.1}},
            "AdamW",
            {"weight_decay": 0.1, "eps": 1e-8},
        ),
        (
            {"optimizer_kwargs": {"weight_decay": 1e-4}},
            "Adam",
            {"weight_decay": 1e-4, "eps": 1e-8, "betas": [0.9, 0.999]},
        ),
    ],
)
def test_optimisers_of_torch_have_its_defaults_not_the_models(
    kwargs: dict[str, Any], kind: str, arguments: dict[str, Any], tmp_path: Path
) -> None:
    model = ppo(**kwargs).learn(64)
    model.save(tmp_path / "model")
    for one in (model, PPO.load(tmp_path / "model", env="Pendulum-v1")):
        config = one.agent.plan.optimiser.config
        assert config.kind == kind
        found = {key: config.arguments[key] for key in arguments}
        assert {**found, **({"betas": [*found["betas"]]} if "betas" in found else {})} == arguments
        assert one.learn(64)


@pytest.mark.parametrize(
    ("kwargs", "words"),
    [
        ({"optimizer_class": optim.LBFGS}, r"optimizer_class=LBFGS .*'AdamW'.*RMSpropTFLike"),
        ({"optimizer_class": optim.SGD, "optimizer_kwargs": {"betas": 1}}, "SGD takes momentum"),
        ({"optimizer_kwargs": {"fused": True}}, "with fused, and Adam takes betas"),
    ],
)
def test_other_optimisers_and_keywords_are_refused(kwargs: dict[str, Any], words: str) -> None:
    with pytest.raises(Refused, match=words):
        ppo(**kwargs)


def test_adam_may_have_another_epsilon_and_other_betas() -> None:
    def adam(**kwargs: Any) -> tuple[float, float, float]:
        (step,) = ppo(**kwargs).agent.run.optimise.steps.values()
        return step.eps, step.beta1, step.beta2

    assert adam() == (1e-5, 0.9, 0.999)
    assert adam(optimizer_kwargs={"eps": 1e-3}) == (1e-3, 0.9, 0.999)
    # Whoever gives keywords has torch's epsilon there, unless they say another.
    assert adam(optimizer_kwargs={"betas": (0.5, 0.9)}) == (1e-8, 0.5, 0.9)
    assert adam(optimizer_kwargs={}) == (1e-8, 0.9, 0.999)


def test_a2c_has_an_rmsprop_of_its_own_unless_a_class_is_named() -> None:
    def a2c(**kwargs: Any) -> Any:
        model = A2C("MlpPolicy", "CartPole-v1", rms_prop_eps=1e-3, policy_kwargs=kwargs)
        return model.learn(5).agent

    assert a2c().plan.optimiser.name == "rmsprop"
    for unnamed in (a2c(), a2c(optimizer_class=None)):
        assert unnamed.run.optimise.groups["policy"].options["eps"] == 1e-3
    named = a2c(optimizer_class=optim.RMSprop).plan.optimiser.config
    assert (named.kind, named.arguments["eps"], named.arguments["alpha"]) == ("RMSprop", 1e-8, 0.99)
    (step,) = a2c(optimizer_class=optim.Adam).run.optimise.steps.values()
    assert step.eps == 1e-5  # Stable-Baselines3's for Adam
    assert a2c(optimizer_class=optim.NAdam).plan.optimiser.config.kind == "NAdam"
    assert a2c(optimizer_kwargs={"eps": 0.1}).plan.optimiser.config.arguments["eps"] == 0.1


def test_networks_that_share_their_extractor_may_say_so() -> None:
    assert ppo(share_features_extractor=True)
    assert ppo(share_features_extractor=False)
    # The extractor of a vector has no parameters.
    kwargs = {"share_features_extractor": False, "net_arch": [8]}
    assert SAC("MlpPolicy", "Pendulum-v1", buffer_size=256, policy_kwargs=kwargs)


def test_images_may_be_left_as_they_are_where_there_are_none() -> None:
    assert ppo("CartPole-v1", normalize_images=False)
    kwargs = {"normalize_images": False, "net_arch": [4]}
    assert SAC("MlpPolicy", "Pendulum-v1", buffer_size=300, policy_kwargs=kwargs)


@pytest.mark.parametrize("kind", [DDPG, SAC, TD3])
@pytest.mark.parametrize("n_critics", [1, 2, 3])
def test_as_many_critics_as_are_asked_for(kind: Any, n_critics: int) -> None:
    kwargs = {"n_critics": n_critics}
    model = kind("MlpPolicy", "Pendulum-v1", buffer_size=300, policy_kwargs=kwargs)
    assert len(model.agent.run.policy.qf.weight) == n_critics


@pytest.mark.parametrize(("kind", "n_critics"), [(DDPG, 1), (SAC, 2), (TD3, 2)])
def test_the_usual_number_of_critics(kind: Any, n_critics: int) -> None:
    model = kind("MlpPolicy", "Pendulum-v1", buffer_size=300)
    assert len(model.agent.run.policy.qf.weight) == n_critics


@pytest.mark.parametrize("cls", [PPO, SAC, RecurrentPPO])
@pytest.mark.parametrize("sizes", [8, 8.0, "64"])
def test_sizes_that_are_no_list_are_refused(cls: Any, sizes: Any) -> None:
    policy = "MlpLstmPolicy" if cls is RecurrentPPO else "MlpPolicy"
    with pytest.raises(ValueError, match=r"net_arch is .*Write a list .*\[64, 64\]"):
        cls(policy, "Pendulum-v1", policy_kwargs={"net_arch": sizes})


def test_actor_and_critics_both_need_layers() -> None:
    for sizes, missing in (({"pi": [4]}, r"qf=\[…\]"), ({"qf": [4]}, r"pi=\[…\]")):
        with pytest.raises(Refused, match=f"Add {missing}: pi has"):
            SAC("MlpPolicy", "Pendulum-v1", policy_kwargs={"net_arch": sizes})
    model: Any = DQN("MlpPolicy", "CartPole-v1", policy_kwargs={"net_arch": {"qf": [4]}})
    assert model.policy.state_dict()["qf.out.weight"].shape == (4, 2)


@pytest.mark.parametrize(
    ("cls", "policy"),
    [
        (PPO, "MlpPolicy"),
        (SAC, "MlpPolicy"),
        (DQN, "mlp"),
        (RecurrentPPO, "MlpLstmPolicy"),
        (SAC, type("Own", (FeedForwardPolicy,), {})),
    ],
)
@pytest.mark.parametrize("sizes", [{}, {"net_arch": [4]}])
def test_sizes_have_the_name_of_stable_baselines3(cls: Any, policy: Any, sizes: Any) -> None:
    env = "CartPole-v1" if cls is DQN else "Pendulum-v1"
    with pytest.raises(ValueError, match=r"has layers, the name in Stable Baselines. Write net_ar"):
        cls(policy, env, policy_kwargs={"layers": [7], **sizes})


def test_a_class_that_makes_its_networks_may_take_layers() -> None:
    class Own(FeedForwardPolicy):
        def __init__(self, *args: Any, layers: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs, feature_extraction="mlp", net_arch=[{"pi": layers}])

        def encoder(self, observation_space: Any) -> Any:
            return super().encoder(observation_space)

    model: Any = PPO(Own, "CartPole-v1", policy_kwargs={"layers": [7]})
    assert model.policy.state_dict()["pi.out.weight"].shape == (7, 2)
