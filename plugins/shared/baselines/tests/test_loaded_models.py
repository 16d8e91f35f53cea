"""Models that were saved with functions, or in environments that an id cannot make again."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.envs.registration import EnvSpec
from gymnasium.spaces import Box, MultiDiscrete
from gymnasium.wrappers import ClipReward, TransformReward

import rlk_sb3
from rlk.errors import BadFile
from rlk_baselines import A2C, DQN, HER, PPO2, SAC, gym
from rlk_baselines.bench import Monitor
from rlk_baselines.common import make_vec_env
from rlk_baselines.common.bit_flipping_env import BitFlippingEnv
from rlk_baselines.common.policies import FeedForwardPolicy
from rlk_baselines.common.vec_env import (
    SubprocVecEnv,
    VecCheckNan,
    VecFrameStack,
    VecNormalize,
)
from rlk_baselines.environments import as_vec_env
from rlk_baselines.refusals import Refused
from rlk_baselines.saved_models import model_files
from rlk_baselines.saved_models.pickled import as_pickle_bytes
from rlk_sb3.common.env_util import make_vec_env as sb3_make_vec_env
from rlk_testing.environments.given_spaces import NESTED, Given

CARTPOLE = np.zeros(4, np.float32)
TANH = {"act_fun": torch.tanh, "net_arch": [8]}


def squashed(features: torch.Tensor) -> torch.Tensor:
    return torch.tanh(features) / 2


class Narrow(FeedForwardPolicy):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs, net_arch=[4], feature_extraction="mlp")


def test_what_no_plan_holds_of_a_models_arguments_comes_back(tmp_path: Path) -> None:
    model = A2C("MlpPolicy", "CartPole-v1", n_cpu_tf_sess=2, tensorboard_log="events")
    model.verbose = 1
    model.save(tmp_path / "model")
    for changes, found in (({}, (1, 2)), ({"verbose": 0, "n_cpu_tf_sess": 1}, (0, 1))):
        loaded = A2C.load(tmp_path / "model", **changes)
        assert (loaded.verbose, loaded.n_cpu_tf_sess) == found
        assert loaded.agent.plan.n_threads == found[1]
        assert loaded.tensorboard_log is None, "no file says where something is written"
    goals = HER("MlpPolicy", BitFlippingEnv(4, continuous=True), SAC, verbose=1, n_cpu_tf_sess=1)
    goals.save(tmp_path / "goals")
    assert HER.load(tmp_path / "goals").verbose == 1


def test_a_file_that_lacks_what_it_should_say_of_its_model_is_damaged(tmp_path: Path) -> None:
    A2C("MlpPolicy", "CartPole-v1").save(tmp_path / "model")
    state = model_files.read(tmp_path / "model.zip")
    for key in state["baselines"].keys() - {"module"}:
        lacking = {name: part for name, part in state["baselines"].items() if name != key}
        (tmp_path / "damaged.pkl").write_bytes(as_pickle_bytes({**state, "baselines": lacking}))
        with pytest.warns(DeprecationWarning), pytest.raises(BadFile, match=f"damaged.*{key}"):
            A2C.load(tmp_path / "damaged.pkl")


def test_a_file_from_before_modules_were_saved_is_loaded_or_refused_by_its_class_alone(
    tmp_path: Path,
) -> None:
    A2C("MlpPolicy", "CartPole-v1").save(tmp_path / "model")
    state = model_files.read(tmp_path / "model.zip")
    assert state["baselines"].pop("module") == "rlk_baselines"
    (tmp_path / "older.pkl").write_bytes(as_pickle_bytes(state))
    with pytest.warns(DeprecationWarning):
        assert A2C.load(tmp_path / "older.pkl").seed is None
    told = r"a model of A2C, not of PPO2\. Write A2C\.load"
    with pytest.warns(DeprecationWarning), pytest.raises(ValueError, match=told):
        PPO2.load(tmp_path / "older.pkl")


def test_an_activation_of_torch_comes_back_and_serves_again(tmp_path: Path) -> None:
    A2C("MlpPolicy", "CartPole-v1", policy_kwargs=TANH).save(tmp_path / "model")
    model = A2C.load(tmp_path / "model", env="CartPole-v1")
    assert model.policy_kwargs == {"act_fun": "tanh", "net_arch": [8]}
    model.gamma = 0.5
    assert model.learn(30).agent.plan.algorithm.config.gamma == 0.5
    model.set_env(make_vec_env("CartPole-v1", 2))
    assert model.learn(30).agent.plan.policy.config.act_fun == "tanh"
    model.setup_model()
    again = A2C("MlpPolicy", "CartPole-v1", policy_kwargs=model.policy_kwargs)
    for one in (model, again):
        assert one.agent.plan.policy.config.act_fun == "tanh"
    assert A2C.load(tmp_path / "model", policy_kwargs=TANH).predict(CARTPOLE)[0] in (0, 1)


@pytest.mark.parametrize("policy", ["MlpPolicy", Narrow])
def test_an_activation_of_a_program_is_passed_again(tmp_path: Path, policy: Any) -> None:
    kwargs = {"act_fun": squashed}
    saved = A2C(policy, "CartPole-v1", policy_kwargs=kwargs)
    saved.save(tmp_path / "model")
    given = {} if isinstance(policy, str) else {"policy": policy}
    text = r"A2C\.load\(path, policy_kwargs=dict\(act_fun=squashed\)\)"
    with pytest.raises(ValueError, match=text):
        A2C.load(tmp_path / "model", **given)
    model = A2C.load(tmp_path / "model", policy_kwargs=kwargs, **given)
    observations = np.linspace(-1, 1, 40, dtype=np.float32).reshape(10, 4)
    expected = saved.action_probability(observations)
    assert np.array_equal(model.action_probability(observations), expected)
    objects = {"policy_kwargs": {"act_fun": lambda features: squashed(features)}, **given}
    by_objects = A2C.load(tmp_path / "model", custom_objects=objects)
    assert np.array_equal(by_objects.action_probability(observations), expected)
    with pytest.raises(ValueError, match="not those of the saved model"):
        A2C.load(tmp_path / "model", policy_kwargs={**kwargs, "net_arch": [9]}, **given)
    model.set_env("CartPole-v1")
    model.gamma = 0.5
    model.learn(30)


def test_an_activation_of_a_program_in_a_model_of_hindsight(tmp_path: Path) -> None:
    env, kwargs = BitFlippingEnv(3, continuous=True, max_steps=3), {"act_fun": squashed}
    HER("MlpPolicy", env, SAC, policy_kwargs=kwargs).save(tmp_path / "model")
    with pytest.raises(ValueError, match=r"HER\.load\(path, policy_kwargs="):
        HER.load(tmp_path / "model", env=env)
    model = HER.load(tmp_path / "model", env=env, policy_kwargs=kwargs)
    assert model.agent.plan.policy.config.act_fun is squashed


def test_a_schedule_that_no_file_holds_is_the_default_until_it_is_passed_again(
    tmp_path: Path,
) -> None:
    path, lost = tmp_path / "model", "learning_rate was the callable"
    PPO2("MlpPolicy", "CartPole-v1", n_steps=16, learning_rate=lambda f: f * 1e-3).save(path)
    PPO2.load(path).save(path)  # without a word on the schedule
    model = PPO2.load(path, env="CartPole-v1")
    assert model.learning_rate == model.defaults()["learning_rate"]
    model.set_env(make_vec_env("CartPole-v1", 2))
    with pytest.warns(UserWarning, match=lost):
        model.learn(32)
    model.gamma = 0.5
    with pytest.warns(UserWarning, match=lost):
        model.learn(32)
    model.learning_rate = 1e-4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.learn(32).agent.plan.algorithm.config.learning_rate == 1e-4
        model.save(tmp_path / "set")
        assert PPO2.load(tmp_path / "set", env="CartPole-v1").learn(16).learning_rate == 1e-4
    model = rlk_sb3.PPO(
        "MlpPolicy", "CartPole-v1", n_steps=16, batch_size=16, clip_range=lambda f: f
    )
    model.save(path)
    model = rlk_sb3.PPO.load(path, env="CartPole-v1")
    model.gamma = 0.5
    with pytest.warns(UserWarning, match="clip_range was the callable"):
        model.learn(16)
    assert model.clip_range == 0.2


def test_a_setting_that_a_callback_has_set_is_saved(tmp_path: Path) -> None:
    path = tmp_path / "model"
    PPO2("MlpPolicy", "CartPole-v1", n_steps=16, learning_rate=lambda f: f * 1e-3).save(path)
    model = PPO2.load(path, env="CartPole-v1")

    def slower(variables: dict[str, Any], _: Any) -> None:
        variables["self"].learning_rate = 1e-5

    with pytest.warns(UserWarning, match="learning_rate was the callable"):
        model.learn(16, callback=slower)
    model.save(path)
    assert PPO2.load(path).learning_rate == 1e-5


class Halved(gym.RewardWrapper):
    def reward(self, reward: float) -> float:
        return reward / 2


def more_than_an_id() -> dict[str, Any]:
    """Environments that an id cannot make again, by what they have beyond it."""

    def stacked() -> Any:
        return VecFrameStack(make_vec_env("CartPole-v1", 2), 2)

    return {
        "VecNormalize": lambda: VecNormalize(make_vec_env("CartPole-v1", 2)),
        "VecFrameStack": stacked,
        "VecNormalize, VecFrameStack": lambda: VecNormalize(stacked()),
        "Halved": lambda: Halved(gym.make("CartPole-v1")),
        "ClipReward": lambda: ClipReward(gymnasium.make("CartPole-v1"), 0, 0.5),
        "TimeLimit": lambda: gym.wrappers.TimeLimit(gym.make("CartPole-v1"), 9),
        "sutton_barto_reward=True": lambda: gym.make("CartPole-v1", sutton_barto_reward=True),
    }


@pytest.mark.parametrize("name", more_than_an_id())
@pytest.mark.parametrize("cls", [A2C, rlk_sb3.A2C])
def test_a_model_does_not_learn_in_less_than_it_was_trained_in(
    name: str, cls: Any, tmp_path: Path
) -> None:
    env = more_than_an_id()[name]()
    cls("MlpPolicy", env).save(tmp_path / "first")
    cls.load(tmp_path / "first").save(tmp_path / "model")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = cls.load(tmp_path / "model")
        model.predict(np.zeros(model.observation_space.shape, np.float32))
    assert model.get_env() is None
    with pytest.raises(ValueError, match=r"loaded without one, .*\. Pass one"):
        model.learn(10)
    model.set_env(env)
    assert model.learn(10).num_timesteps >= 10


def test_what_is_around_the_environments_of_workers_is_known(tmp_path: Path) -> None:
    env = SubprocVecEnv([lambda: TransformReward(gymnasium.make("CartPole-v1"), np.negative)])
    A2C("MlpPolicy", env).save(tmp_path / "model")
    env.close()
    assert A2C.load(tmp_path / "model").get_env() is None


@pytest.mark.parametrize(
    "watched",
    [
        lambda: Monitor(gym.make("CartPole-v1"), None),
        lambda: rlk_sb3.common.monitor.Monitor(gym.make("CartPole-v1")),
        lambda: VecCheckNan(make_vec_env("CartPole-v1", 2)),
        lambda: gymnasium.wrappers.RecordEpisodeStatistics(gymnasium.make("CartPole-v1")),
        lambda: sb3_make_vec_env("CartPole-v1", 2),
    ],
)
def test_what_only_watches_is_not_missed(watched: Any, tmp_path: Path) -> None:
    A2C("MlpPolicy", watched()).save(tmp_path / "model")
    assert A2C.load(tmp_path / "model").learn(10).num_timesteps == 10


def test_an_id_of_other_spaces_is_refused(tmp_path: Path, monkeypatch: Any) -> None:
    A2C("MlpPolicy", "CartPole-v1").save(tmp_path / "model")
    monkeypatch.setattr(as_vec_env, "make_by_id", lambda _: gym.make("Acrobot-v1"))
    model = A2C.load(tmp_path / "model")
    assert model.predict(CARTPOLE)[0] in (0, 1)
    with pytest.raises(ValueError, match="CartPole-v1 has other spaces than its own had"):
        model.learn(10)


@pytest.mark.parametrize("space", NESTED)
def test_an_environment_of_nested_observations_is_made_by_its_id(
    space: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    here = EnvSpec("Here-v0", lambda **_: Given(None, space))
    monkeypatch.setitem(gymnasium.registry, "Here-v0", here)
    for cls, name in ((A2C, "on-policy"), (DQN, "off-policy")):
        cls("MultiInputPolicy", "Here-v0").save(tmp_path / name)
        model = cls.load(tmp_path / name).learn(15)
        assert model.num_timesteps == 15
        assert np.isin(model.predict(model.get_env().reset())[0], (0, 1)).all()


def test_a_model_that_is_loaded_without_an_environment_has_the_spaces_of_its_own(
    tmp_path: Path,
) -> None:
    space = MultiDiscrete([3, 4], dtype=np.int32)
    A2C("MlpPolicy", Given(None, space)).save(tmp_path / "model")
    model = A2C.load(tmp_path / "model")
    assert model.observation_space == space


@pytest.mark.parametrize("cls", [A2C, rlk_sb3.A2C])
def test_spaces_may_be_passed_instead_of_those_of_the_file(cls: Any, tmp_path: Path) -> None:
    saved = cls("MlpPolicy", "CartPole-v1")
    saved.save(tmp_path / "model")
    spaces = {name: getattr(saved, name) for name in ("observation_space", "action_space")}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = cls.load(tmp_path / "model", custom_objects=spaces)
        wide = spaces | {"observation_space": Box(-9, 9, (4,), np.float32)}
        other = cls.load(tmp_path / "model", custom_objects=wide)
    assert model.learn(10).observation_space == saved.observation_space
    assert other.observation_space == Box(-9, 9, (4,), np.float32)
    assert other.predict(CARTPOLE)[0] in (0, 1)
    narrow = {"observation_space": Box(-9, 9, (3,), np.float32)}
    told = r"custom_objects has observation_space Box\(\(3,\), .* are for Box\(\(4,\)"
    with pytest.raises(Refused, match=told):
        cls.load(tmp_path / "model", custom_objects=narrow)
