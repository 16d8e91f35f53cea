"""Arguments that have no effect because of another one: one rule for all classes."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch

import rlk_baselines
import rlk_sb3
from rlk.registry.kernel import default_kernel
from rlk_baselines.common.noise import AdaptiveParamNoiseSpec
from rlk_baselines.common.policies import FeedForwardPolicy, LstmPolicy, nature_cnn
from rlk_baselines.policies.chosen import Dimensions, policy_settings
from rlk_sb3_contrib import TRPO, MaskablePPO, RecurrentPPO

#: Argument -> a value that is not the default.
OTHER: dict[str, Any] = {
    "full_tensorboard_log": True,
    "sde_sample_freq": 4,
    "use_sde_at_warmup": True,
    "rms_prop_eps": 0.1,
    "target_entropy": -2.0,
    "alpha": 0.5,
    "delta": 2.0,
    "buffer_size": 3000,
    "replay_start": 500,
    "enable_popart": True,
    "nb_eval_steps": 7,
    "render_eval": True,
    "param_noise_adaption_interval": 20,
    "prioritized_replay_alpha": 0.5,
    "prioritized_replay_beta0": 0.5,
    "prioritized_replay_beta_iters": 100,
    "prioritized_replay_eps": 1e-3,
    "target_noise_clip": 0.25,
    "vf_stepsize": 1e-3,
}
#: Switch -> the values that turn it off and on.
SWITCHES: dict[str, tuple[Any, Any]] = {
    "tensorboard_log": (None, "board"),
    "use_sde": (False, True),
    "use_rms_prop": (False, True),
    "ent_coef": (0.2, "auto_0.1"),
    "trust_region": (False, True),
    "replay_ratio": (0, 2),
    "normalize_returns": (False, True),
    "eval_env": (None, "Pendulum-v1"),
    "param_noise": (None, AdaptiveParamNoiseSpec()),
    "prioritized_replay": (False, True),
    "target_policy_noise": (0.0, 0.1),
    "vf_iters": (0, 2),
}
#: Arguments that make constructors fast.
SMALL: dict[str, Any] = {"nb_rollout_steps": 20}
SB2 = [getattr(rlk_baselines, name) for name in rlk_baselines.__all__ if name.isupper()]
SB2.remove(rlk_baselines.HER)  # whose arguments are those of the class that learns
SB3 = [rlk_sb3.A2C, rlk_sb3.DDPG, rlk_sb3.DQN, rlk_sb3.PPO, rlk_sb3.SAC, rlk_sb3.TD3]


def needs(kind: Any) -> dict[str, str]:
    """The arguments of a class that need another one -> that one."""
    return {one.name: one.needs.switch for one in kind.arguments.values() if one.needs is not None}


CASES = [
    (kind, name) for kind in (*SB2, *SB3, MaskablePPO, RecurrentPPO, TRPO) for name in needs(kind)
]


def env_of(kind: Any) -> str:
    component = default_kernel().registries.algorithms.get(kind.algo).component()
    needs_box = "Discrete" not in component.action_spaces or "use_sde" in kind.arguments
    return "Pendulum-v1" if needs_box else "CartPole-v1"


def made(kind: Any, **given: Any) -> tuple[Any, list[str]]:
    """A model, and the warnings."""
    policy = "MlpLstmPolicy" if kind is RecurrentPPO else "MlpPolicy"
    small = {name: value for name, value in SMALL.items() if name in kind.arguments}
    if "buffer_size" in kind.arguments and kind.algo != "acer":
        small["buffer_size"] = 300
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = kind(policy, env_of(kind), **{**small, **given})
    return model, [str(one.message) for one in caught if "no effect" in str(one.message)]


def title(value: Any) -> str:
    return f"{value.__module__}.{value.__name__}" if isinstance(value, type) else str(value)


@pytest.mark.parametrize(("kind", "name"), CASES, ids=title)
def test_it_is_skipped_with_a_warning_unless_what_it_needs_is_there(
    kind: Any, name: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    switch = needs(kind)[name]
    off, on = SWITCHES[switch]
    _, told = made(kind, **{name: OTHER[name], switch: off})
    assert [text.partition("=")[0] for text in told] == [name]
    assert f"has no effect without {switch}=" in told[0]
    model, told = made(kind, **{name: OTHER[name], switch: on})
    assert told == [] and getattr(model, name) == OTHER[name]
    assert made(kind, **{switch: off})[1] == []


def test_every_setting_that_a_switch_puts_in_needs_the_switch() -> None:
    """These are the settings of plugins that are only in a run because of another argument."""
    for kind in (*SB2, *SB3):
        component = default_kernel().registries.algorithms.get(kind.algo).component()
        switched = {*component.activates.values(), "adaptive-parameter-noise"}
        for own, to in component.forwarded():
            targets = {one.partition(".")[0] for key, one in component.forwarded() if key == own}
            if own in kind.arguments and own not in component.activates and targets <= switched:
                assert own in needs(kind), (kind, own, to)


@pytest.mark.parametrize("kind", [rlk_baselines.TD3, rlk_sb3.TD3], ids=title)
def test_an_argument_has_its_effect_again_where_what_it_needs_is_set_later(kind: Any) -> None:
    model, _ = made(kind, target_policy_noise=0.0, target_noise_clip=0.25)
    assert model.agent.plan.algorithm.config.target_noise_clip == 0.5
    model.target_policy_noise = 0.1
    assert model.agent.plan.algorithm.config.target_noise_clip == 0.25
    model.target_policy_noise = 0.0
    with pytest.warns(UserWarning, match="target_noise_clip=0.25 has no effect"):
        assert model.agent.plan.algorithm.config.target_noise_clip == 0.5


def test_no_warning_remains_where_what_the_argument_needs_is_set_later(tmp_path: Any) -> None:
    model, told = made(rlk_baselines.PPO2, full_tensorboard_log=True, n_steps=8, nminibatches=1)
    assert len(told) == 1
    model.tensorboard_log, model.gamma = str(tmp_path), 0.9
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.agent.plan.algorithm.config.gamma == 0.9


def test_a_loaded_model_may_lose_what_an_argument_needs(tmp_path: Any) -> None:
    model, _ = made(rlk_sb3.SAC, target_entropy=-2.0)
    model.save(tmp_path / "model")
    with pytest.warns(UserWarning, match="target_entropy=-2.0 has no effect without ent_coef"):
        loaded = rlk_sb3.SAC.load(tmp_path / "model", env="Pendulum-v1", ent_coef=0.2)
    assert loaded.agent.plan.algorithm.config.target_entropy == "auto"
    assert loaded.learn(2).num_timesteps == 2


@pytest.mark.parametrize(
    ("kind", "env", "kwargs", "told"),
    [
        (rlk_sb3.PPO, "Pendulum-v1", {"full_std": False}, "full_std=False .* use_sde=True"),
        (rlk_sb3.A2C, "Pendulum-v1", {"use_expln": True}, "use_expln=True .* use_sde=True"),
        (
            rlk_sb3.PPO,
            "CartPole-v1",
            {"log_std_init": -1.0},
            "log_std_init=-1.0 .* actions of a Box",
        ),
        (rlk_sb3.SAC, "Pendulum-v1", {"clip_mean": 1.0}, "clip_mean=1.0 .* use_sde=True"),
    ],
)
def test_keywords_of_policies_are_warned_of_too(
    kind: Any, env: str, kwargs: Any, told: str
) -> None:
    small = {"buffer_size": 300} if kind is rlk_sb3.SAC else {}
    with pytest.warns(UserWarning, match=f"policy_kwargs: {told}"):
        kind("MlpPolicy", env, policy_kwargs=kwargs, **small)


EXTRACTOR = torch.nn.Flatten()


@pytest.mark.parametrize(
    ("base", "keywords", "without", "needed"),
    [
        (FeedForwardPolicy, {"net_arch": [9], "feature_extraction": "mlp"}, "layers", "net_arch=N"),
        (LstmPolicy, {"net_arch": [9, "lstm"], "feature_extraction": "mlp"}, "layers", "net_arch="),
        (FeedForwardPolicy, {"feature_extraction": "mlp"}, "cnn_extractor", "feature_extraction="),
        (LstmPolicy, {"feature_extraction": "mlp"}, "cnn_extractor", "feature_extraction='cnn'"),
        (FeedForwardPolicy, {"cnn_extractor": EXTRACTOR}, "features", "cnn_extractor=nature_cnn"),
        (LstmPolicy, {"cnn_extractor": EXTRACTOR}, "features", "cnn_extractor=nature_cnn"),
    ],
)
def test_keywords_of_policy_classes_are_warned_of_too(
    base: Any, keywords: Any, without: str, needed: str
) -> None:
    value = {"layers": [7], "cnn_extractor": EXTRACTOR, "features": 7}[without]

    class Own(base):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs, **keywords)

    def shapes(**kwargs: Any) -> list[Any]:
        model = rlk_baselines.A2C(Own, "CartPole-v1", policy_kwargs=kwargs)
        return [one.shape for one in model.get_parameters().values()]

    with pytest.warns(UserWarning, match=f"policy 'Own': {without}=.* without {needed}"):
        found = shapes(**{without: value})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert found == shapes()
        with pytest.raises(UserWarning, match=f"policy 'Own': {without}=.* without {needed}"):
            shapes(**{without: value})


@pytest.mark.parametrize(
    ("kind", "env"),
    [(rlk_baselines.A2C, "CartPole-v1"), (rlk_baselines.DDPG, "Pendulum-v1")],
)
def test_layers_beside_net_arch_have_no_effect(kind: Any, env: str) -> None:
    with pytest.warns(UserWarning, match=r"policy_kwargs: layers=\[7\] .* net_arch=None"):
        kind("MlpPolicy", env, policy_kwargs={"layers": [7], "net_arch": [9]})


@pytest.mark.parametrize("policy", ["MlpPolicy", "MlpLstmPolicy", "MultiInputPolicy"])
def test_an_extractor_has_no_effect_in_a_policy_without_a_cnn(policy: str) -> None:
    kwargs = {"cnn_extractor": EXTRACTOR, "layers": [6]}
    with pytest.warns(UserWarning, match="cnn_extractor=.* without feature_extraction='cnn'"):
        found = policy_settings(policy, kwargs, Dimensions(None))
    assert found == {"policy": policy, "policy.layers": [6]}


@pytest.mark.parametrize("policy", ["CnnPolicy", "CnnLstmPolicy"])
def test_the_size_of_the_nature_cnn_has_no_effect_beside_an_extractor(policy: str) -> None:
    with pytest.warns(UserWarning, match="features=32 has no effect without cnn_extractor=nature_"):
        found = policy_settings(
            policy, {"cnn_extractor": EXTRACTOR, "features": 32}, Dimensions(None)
        )
    assert found == {"policy": policy, "policy.cnn_extractor": EXTRACTOR}


@pytest.mark.parametrize("policy", ["CnnPolicy", "CnnLstmPolicy", "MlpPolicy"])
def test_the_nature_cnn_may_be_named(policy: str) -> None:
    kwargs = {"cnn_extractor": nature_cnn, **({"features": 32} if "Cnn" in policy else {})}
    with warnings.catch_warnings(action="error"):
        found = policy_settings(policy, kwargs, Dimensions(None))
    assert found == {"policy": policy, **({"policy.features": 32} if "Cnn" in policy else {})}
