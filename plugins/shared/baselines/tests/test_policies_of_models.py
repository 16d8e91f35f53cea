"""Policies of models: by name, by class, recurrent, for images."""

from __future__ import annotations

import inspect
import warnings
from pathlib import Path
from typing import Any, ClassVar

import attrs
import numpy as np
import pytest
import torch
from gymnasium import spaces
from small_models import small_ppo

from rlk_baselines import DQN, HER, PPO2, gym
from rlk_baselines.common import make_vec_env
from rlk_baselines.common.bit_flipping_env import BitFlippingEnv
from rlk_baselines.common.policies import (
    ActorCriticPolicy,
    BasePolicy,
    CnnPolicy,
    FeedForwardPolicy,
    LstmPolicy,
    MlpLstmPolicy,
    MlpPolicy,
    get_policy_from_name,
    register_policy,
)
from rlk_baselines.refusals import Refused
from rlk_mlp.component import mlp


class Small(FeedForwardPolicy):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(
            *args, **kwargs, net_arch=[{"pi": [4], "vf": [5]}], feature_extraction="mlp"
        )


class Film(gym.Env):
    observation_space = spaces.Box(0, 255, (36, 36, 1), np.uint8)
    action_space = spaces.Discrete(2)

    def reset(self) -> Any:
        return np.full((36, 36, 1), 100, np.uint8)

    def step(self, action: Any) -> Any:
        return self.reset(), 1.0, True, {}


def test_a_policy_is_found_by_its_name() -> None:
    assert get_policy_from_name(ActorCriticPolicy, "MlpPolicy") is MlpPolicy
    with pytest.raises(ValueError, match="no policy 'Mlp'; there are CnnLnLstmPolicy, CnnLstmPol"):
        get_policy_from_name(ActorCriticPolicy, "Mlp")


HandsOn = type("HandsOn", (Small,), {})


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (BasePolicy, "reuse scale obs_ph add_action_ph"),
        (MlpPolicy, "reuse kwargs"),
        (CnnPolicy, "reuse kwargs"),
        (MlpLstmPolicy, "n_lstm reuse kwargs"),
        (Small, "reuse kwargs"),
        (HandsOn, "reuse kwargs"),
    ],
)
def test_the_signature_of_a_policy_class_is_the_documented_one(policy: Any, expected: str) -> None:
    found = inspect.signature(policy)
    first = "sess ob_space ac_space n_env n_steps n_batch"
    assert [*found.parameters] == [*first.split(), *expected.split()]
    assert "n_lstm" not in found.parameters or found.parameters["n_lstm"].default == 256


def test_a_constructor_of_ones_own_keeps_its_signature() -> None:
    class Given(FeedForwardPolicy):
        def __init__(self, sess: Any, size: int = 3) -> None:
            raise NotImplementedError

    class Below(Given):
        def __init__(self, *args: Any) -> None:
            raise NotImplementedError

    assert [*inspect.signature(Given).parameters] == ["sess", "size"]
    assert [*inspect.signature(Below).parameters] == ["args"]


@pytest.mark.parametrize("policy", [int, 3, lambda *args: None, torch.nn.Linear, "MlpPolicy"])
def test_only_classes_of_policies_are_registered(policy: Any) -> None:
    with pytest.raises(ValueError, match=r"register_policy\('Mine', …\) takes a class of policies"):
        register_policy("Mine", policy)


def test_policies_are_classes_names_and_registered_names(tmp_path: Path) -> None:
    register_policy("Small", Small)
    register_policy("Small", Small)
    with pytest.raises(ValueError, match="exists already"):
        register_policy("MlpPolicy", Small)
    with pytest.raises(ValueError, match="exists already"):
        register_policy("Small", FeedForwardPolicy)
    new = type("Small", (Small,), {"__module__": __name__})
    register_policy("Small", new)  # as a notebook's cell that runs again
    assert get_policy_from_name(ActorCriticPolicy, "Small") is new
    for policy in (Small, "Small"):
        model = small_ppo(policy=policy)
        assert model.get_parameters()["model/pi/trunk/layers/0/weight"].shape[-2:] == (4, 4)
    model.save(tmp_path / "model")
    assert PPO2.load(tmp_path / "model").predict(np.zeros(4))[0] in (0, 1)
    assert small_ppo(policy=MlpPolicy).agent.plan.policy.name == "mlp"


def test_a_component_is_registered_as_a_policy(tmp_path: Path) -> None:
    own = attrs.evolve(mlp, name="narrow", own_defaults={"layers": (3,)})
    for _ in range(2):
        register_policy("narrow", own)
    model = small_ppo(policy="narrow")
    assert model.get_parameters()["model/pi/trunk/layers/0/weight"].shape[-1] == 3
    model.save(tmp_path / "model")
    assert PPO2.load(tmp_path / "model").policy is own
    with pytest.raises(ValueError, match=r"takes a class of policies, got Component\(name='mlp'"):
        register_policy("wrong", attrs.evolve(mlp, kind="noises"))


def test_a_class_with_another_name_is_passed_to_load(tmp_path: Path) -> None:
    class Renamed(Small):
        pass

    model = small_ppo(policy=Small, policy_kwargs={"act_fun": "relu"})
    model.save(tmp_path / "model")
    with pytest.warns(UserWarning, match="policy was 'Small'; 'Renamed' may act otherwise by the"):
        again = PPO2.load(tmp_path / "model", policy=Renamed)
    assert again.value(np.ones(4)) == model.value(np.ones(4)) and again.policy is Renamed
    with pytest.raises(ValueError, match=r"policy 'mlp' .* other networks than .* 'Small': "):
        PPO2.load(tmp_path / "model", policy="MlpPolicy", policy_kwargs={"act_fun": "relu"})


def test_only_a_policy_of_another_name_may_act_otherwise(tmp_path: Path) -> None:
    small_ppo(policy=Small).save(tmp_path / "model")
    small_ppo(policy="MlpPolicy").save(tmp_path / "named")
    with warnings.catch_warnings(action="error"):
        PPO2.load(tmp_path / "model", policy=Small)
        PPO2.load(tmp_path / "named", policy=MlpPolicy)


class Told(FeedForwardPolicy):
    arguments: ClassVar[tuple[Any, ...]] = ()

    def __init__(self, sess, ob_space, ac_space, n_env, n_steps, n_batch, **kwargs):
        type(self).arguments = (ac_space, n_env, n_steps, n_batch)
        super().__init__(sess, ob_space, ac_space, feature_extraction="mlp", **kwargs)


def test_the_constructor_of_a_policy_is_told_the_dimensions_of_the_model(tmp_path: Path) -> None:
    vector = make_vec_env("CartPole-v1", n_envs=2)
    PPO2(Told, vector, n_steps=8, nminibatches=1).save(tmp_path / "model")
    assert Told.arguments == (spaces.Discrete(2), 2, 8, 16)
    PPO2.load(tmp_path / "model", policy=Told).set_env(make_vec_env("CartPole-v1", n_envs=3))
    assert Told.arguments == (spaces.Discrete(2), 3, 8, 24)
    DQN(Told, "CartPole-v1")
    assert Told.arguments == (spaces.Discrete(2), 1, 1, 1)
    HER(Told, BitFlippingEnv(3), DQN)
    assert Told.arguments == (spaces.Discrete(3), 1, 1, 1)


def test_an_error_in_the_constructor_of_a_policy_names_the_policy() -> None:
    class Halves(FeedForwardPolicy):
        def __init__(self, sess, ob_space, ac_space, *sizes, **kwargs):
            super().__init__(sess, ob_space, ac_space, layers=[ac_space.shape[0] // 2], **kwargs)

    with pytest.raises(ValueError, match="policy 'Halves' cannot be made: IndexError: tuple index"):
        PPO2(Halves, "CartPole-v1")


@pytest.mark.parametrize("env", ["CartPole-v1", "FrozenLake-v1", "Blackjack-v1"])
def test_a_cnn_for_observations_that_are_no_images_is_refused_by_the_name_of_its_policy(
    env: str,
) -> None:
    class Forgets(FeedForwardPolicy):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs, net_arch=[8])

    with pytest.raises(ValueError, match=r"'Forgets'.* takes images, .*feature_extraction='mlp'"):
        PPO2(Forgets, env)


def test_a_recurrent_policy_with_the_documented_signature_remembers() -> None:
    class Custom(LstmPolicy):
        def __init__(
            self, sess, ob_space, ac_space, n_env, n_steps, n_batch, n_lstm=8, reuse=False, **kwargs
        ):
            super().__init__(
                *(sess, ob_space, ac_space, n_env, n_steps, n_batch, n_lstm, reuse),
                net_arch=[8, "lstm", {"vf": [5, 10], "pi": [10]}],
                layer_norm=True,
                feature_extraction="mlp",
                **kwargs,
            )

    model = small_ppo(policy=Custom, policy_kwargs={"n_lstm": 6}).learn(16)
    env, state, done = model.get_env(), None, [False]
    obs = env.reset()
    for _ in range(2):
        action, state = model.predict(obs, state=state, mask=done)
        obs, _, done, _ = env.step(action)
    assert state.shape == (1, 12)  # what the LSTM puts out, and its cells, of six units
    assert model.value(obs, state, done) != model.value(obs, np.zeros_like(state), done)


def test_a_policy_of_tensorflow_is_refused_with_what_to_write() -> None:
    class OfTensorFlow(FeedForwardPolicy):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.hidden = tf.layers.dense(self.processed_obs, 3)  # noqa: F821

    with pytest.raises(ValueError, match=r"builds TensorFlow's graph in __init__.*net_arch"):
        small_ppo(policy=OfTensorFlow)


def test_an_activation_of_torch_is_saved_by_its_name(tmp_path: Path) -> None:
    for act_fun in (torch.relu, torch.nn.functional.relu, torch.nn.ReLU):
        model = small_ppo(policy_kwargs={"act_fun": act_fun})
        assert model.agent.plan.policy.config.act_fun == "relu"


@pytest.mark.parametrize(
    ("model", "policy"), [(PPO2, "CnnPolicy"), (PPO2, "CnnLstmPolicy"), (DQN, "CnnPolicy")]
)
def test_images_of_floats_are_for_cnns_too(model: Any, policy: str) -> None:
    class Floats(Film):
        observation_space = spaces.Box(0.0, 1.0, (36, 36, 4), np.float32)

        def reset(self) -> Any:
            return self.observation_space.sample()

    own = {"n_steps": 4, "nminibatches": 1} if model is PPO2 else {"learning_starts": 4}
    batch = {} if model is PPO2 else {"batch_size": 4, "train_freq": 1, "buffer_size": 50}
    made = model(policy, Floats(), seed=0, n_cpu_tf_sess=1, **own, **batch)
    before = made.get_parameters()
    made.learn(8)
    moved = {name for name, value in made.get_parameters().items() if (value != before[name]).any()}
    assert any("conv1" in name for name in moved)


def flat(space: Any, **kwargs: Any) -> torch.nn.Module:
    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(36 * 36, kwargs["size"]))


@pytest.mark.parametrize("policy", ["CnnPolicy", CnnPolicy, "CnnLstmPolicy"])
def test_further_keywords_of_a_policy_are_those_of_its_extractor(
    policy: Any, tmp_path: Path
) -> None:
    kwargs = {"cnn_extractor": flat, "size": 3}
    model = PPO2(policy, Film(), n_steps=8, nminibatches=1, policy_kwargs=kwargs)
    assert "Linear(in_features=1296, out_features=3" in str(model.agent.run.policy)
    model.save(tmp_path / "model")
    with pytest.raises(Refused, match=r"again: .*dict\(cnn_extractor=flat, size=3\)"):
        PPO2.load(tmp_path / "model", policy=policy)
    again = PPO2.load(tmp_path / "model", policy=policy, policy_kwargs=kwargs)
    assert again.value(Film().reset()) == model.value(Film().reset())


def test_the_other_librarys_name_of_the_activation_is_told() -> None:
    with pytest.raises(Refused, match=r"has activation_fn, the name.*Write act_fun instead"):
        PPO2("MlpPolicy", "CartPole-v1", policy_kwargs={"activation_fn": "tanh"})


class Doubled(torch.nn.Module):
    features = 4
    seen: ClassVar[list[Any]] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.seen.append(x.tolist())
        return 2 * x


class OwnExtractor(FeedForwardPolicy):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs, cnn_extractor=Doubled())


class OwnExtractorLstm(LstmPolicy):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs, cnn_extractor=Doubled())


@pytest.mark.parametrize("policy", [OwnExtractor, OwnExtractorLstm])
def test_an_extractor_of_ones_own_sees_numbers_without_bounds_as_they_are(policy: Any) -> None:
    model = PPO2(policy, "CartPole-v1", n_steps=8, nminibatches=1)
    model.action_probability(np.full(4, 100.0))
    assert Doubled.seen[-1] == [[100.0] * 4]
