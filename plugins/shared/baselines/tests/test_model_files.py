"""Saved models: every kind of file, replacements when loading, and values that do not fit."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from small_models import small_ppo

import rlk_sb3
from rlk.errors import BadFile
from rlk.registry.kernel import default_kernel
from rlk_baselines import A2C, DQN, PPO2, gym
from rlk_baselines.common.evaluation import evaluate_policy
from rlk_baselines.common.vec_env import DummyVecEnv, SubprocVecEnv
from rlk_baselines.saved_models.pickled import as_pickle_bytes, state_in_pickle
from rlk_zip.serializer import ZipSerializer


@pytest.mark.parametrize("cls", [A2C, DQN])
def test_the_same_model_comes_back_from_every_kind_of_file(cls: Any, tmp_path: Path) -> None:
    model = cls("MlpPolicy", "CartPole-v1", seed=0, gamma=0.9)
    obs = np.array([0.1, 0.2, 0.3, 0.4])
    buffer = io.BytesIO()
    model.save(tmp_path / "one")
    model.save(tmp_path / "two", cloudpickle=True)
    model.save(buffer)
    buffer.seek(0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.zip", "two.pkl"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        loaded = [cls.load(tmp_path / "one"), cls.load(tmp_path / "two.pkl"), cls.load(buffer)]
    expected = model.get_parameters()
    for other in loaded:
        found = other.get_parameters()
        assert found.keys() == expected.keys()
        assert all(np.array_equal(found[name], expected[name]) for name in expected)
        assert other.gamma == 0.9 and other.predict(obs, deterministic=True)[0] in (0, 1)


def test_a_model_that_was_loaded_without_environment_acts_and_says_what_it_lacks_to_learn(
    counting, tmp_path: Path
) -> None:
    small_ppo(counting()).save(tmp_path / "model")
    model = PPO2.load(tmp_path / "model")
    assert model.predict(np.zeros(2))[0] in (0, 1)
    assert model.get_env() is None
    with pytest.raises(ValueError, match="no environment to learn in"):
        model.learn(16)
    model.set_env(counting())
    assert model.learn(16).num_timesteps == 16


def test_the_environment_of_a_registered_id_comes_back(tmp_path: Path) -> None:
    DQN("MlpPolicy", gym.make("CartPole-v1")).save(tmp_path / "model")
    model = DQN.load(tmp_path / "model")
    mean, std = evaluate_policy(model, model.get_env(), n_eval_episodes=2)
    assert mean >= 8 and std >= 0


@pytest.mark.parametrize("kind", [DummyVecEnv, SubprocVecEnv])
def test_a_model_may_be_saved_after_its_environments_were_closed(kind: Any, tmp_path: Path) -> None:
    env = kind([lambda: gym.make("CartPole-v1")] * 2)
    model = A2C("MlpPolicy", env).learn(10)
    env.close()
    model.save(tmp_path / "model")
    loaded = A2C.load(tmp_path / "model")
    assert loaded.get_env().num_envs == 2 and loaded.learn(10).num_timesteps == 10


def test_what_a_file_holds_is_replaced_by_what_load_is_given(tmp_path: Path) -> None:
    small_ppo(learning_rate=lambda remaining: 1e-3 * remaining).save(tmp_path / "model")
    objects = {"learning_rate": 2e-3, "cliprange": 0.1}
    model = PPO2.load(tmp_path / "model", custom_objects=objects, gamma=0.5)
    config = model.agent.plan.algorithm.config
    assert (config.learning_rate, config.cliprange, config.gamma) == (2e-3, 0.1, 0.5)


def test_a_pickle_is_found_by_its_name_without_the_suffix(tmp_path: Path) -> None:
    small_ppo(gamma=0.5).save(tmp_path / "model", cloudpickle=True)
    with pytest.warns(DeprecationWarning):
        assert PPO2.load(tmp_path / "model").gamma == 0.5
    small_ppo(gamma=0.7).save(tmp_path / "model")
    assert PPO2.load(tmp_path / "model").gamma == 0.7
    with pytest.warns(DeprecationWarning):
        assert PPO2.load(tmp_path / "model", cloudpickle=True).gamma == 0.5
    with pytest.raises(
        ValueError, match=r"nowhere could not be found, nor .*nowhere\.zip or .*pkl"
    ):
        PPO2.load(tmp_path / "nowhere")


@pytest.mark.parametrize("trusted", [True, False])
def test_a_damaged_pickle_is_named(trusted: bool, tmp_path: Path) -> None:
    small_ppo().save(tmp_path / "model", cloudpickle=True)
    whole = (tmp_path / "model.pkl").read_bytes()
    for data in (whole[:500], b""):
        (tmp_path / "cut.pkl").write_bytes(data)
        told = pytest.raises(
            BadFile, match=r"cut\.pkl (is not|cannot be read as) a pickle: .*Error"
        )
        with pytest.warns(DeprecationWarning), told:
            PPO2.load(tmp_path / "cut.pkl", cloudpickle=trusted)


def stepped(observations: Any, actions: Any) -> gym.Env:
    class Sampled(gym.Env):
        observation_space, action_space = observations, actions

        def reset(self) -> Any:
            return observations.sample()

        def step(self, action: Any) -> Any:
            return observations.sample(), 0.0, True, {}

    return Sampled()


WIDE, TWO = gym.spaces.Box(-5, 5, (3,)), gym.spaces.Discrete(2)
NARROW = gym.spaces.Box(-1, 1, (3,))


@pytest.mark.parametrize(
    ("observations", "actions", "said"),
    [
        (gym.spaces.Discrete(3), TWO, r"observation_space .* is Box\(.*, and .* is Discrete\(3\)"),
        (gym.spaces.Box(-1, 1, (4,)), TWO, r"observation_space .*same spaces\.$"),
        (WIDE, TWO, r"custom_objects=\{'observation_space': env\.observation_space\}"),
        (
            NARROW,
            gym.spaces.Discrete(2, start=1),
            r"action_space .* is Discrete\(2\), and .*start=1",
        ),
        (NARROW, NARROW, r"action_space .* is Discrete\(2\), and .* is Box"),
    ],
)
def test_an_environment_with_other_spaces_is_refused(
    observations: Any, actions: Any, said: str, tmp_path: Path
) -> None:
    model = PPO2("MlpPolicy", stepped(NARROW, TWO), n_steps=8)
    model.save(tmp_path / "model")
    other = stepped(observations, actions)
    with pytest.raises(ValueError, match=said):
        PPO2.load(tmp_path / "model", env=other)
    for env in (other, DummyVecEnv([lambda: stepped(observations, actions)] * 2)):
        with pytest.raises(ValueError, match="_space of environment"):
            model.set_env(env)


def test_bounds_differ_if_the_models_space_is_replaced(tmp_path: Path) -> None:
    PPO2("MlpPolicy", stepped(NARROW, TWO), n_steps=8).save(tmp_path / "model")
    own = {"observation_space": WIDE}
    model = PPO2.load(tmp_path / "model", env=stepped(WIDE, TWO), custom_objects=own)
    assert model.learn(8).observation_space == WIDE


def test_what_does_not_fit_a_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model"
    small_ppo(policy_kwargs={"net_arch": [8]}).save(path)
    with pytest.raises(ValueError, match=r"PPO2 has no learning_rat to replace"):
        PPO2.load(path, learning_rat=1)
    with pytest.warns(UserWarning, match="custom_objects that are not arg.* no effect: learning_r"):
        PPO2.load(path, custom_objects={"learning_rat": 1})
    with pytest.raises(ValueError, match=r"policy_kwargs=.* are not those of the saved model"):
        PPO2.load(path, policy_kwargs={"net_arch": [9]})
    with pytest.raises(ValueError, match=r"model of PPO2, not of A2C. Write PPO2\.load"):
        A2C.load(path)
    with pytest.raises(ValueError, match="could not be found"):
        PPO2.load(tmp_path / "nothing")
    (tmp_path / "code.pkl").write_bytes(b"cos\nsystem\n(S'false'\ntR.")
    with pytest.raises(BadFile, match=r"load.*cloudpickle=True"), pytest.warns(DeprecationWarning):
        PPO2.load(tmp_path / "code.pkl")


@pytest.mark.parametrize("place", [3, None, ["model.zip"], "", Path()])
def test_what_names_no_file_is_refused(place: Any) -> None:
    model = small_ppo()
    # load_parameters takes a list, of values.
    more = [] if isinstance(place, list) else [model.load_parameters]
    for use in (model.save, PPO2.load, *more):
        with pytest.raises(ValueError, match="a model is a file"):
            use(place)


def test_an_open_file_that_was_not_rewound_is_refused() -> None:
    model, buffer = small_ppo(), io.BytesIO()
    model.save(buffer)
    for use in (PPO2.load, model.load_parameters):
        with pytest.raises(ValueError, match=r"nothing left to read. Write file.seek\(0\)"):
            use(buffer)


def test_errors_about_an_open_file_name_no_other() -> None:
    buffer = io.BytesIO()
    small_ppo().save(buffer)
    buffer.seek(0)
    with pytest.raises(ValueError, match=r"^the open file holds a model of PPO2, not of A2C\."):
        A2C.load(buffer)
    with (
        pytest.raises(BadFile, match=r"^the open file is not a pickle.*'n'\. A model is"),
        pytest.warns(DeprecationWarning),
    ):
        PPO2.load(io.BytesIO(b"nonsense"))


def test_a_file_that_is_not_a_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("learn more")
    with (
        pytest.raises(BadFile, match=r"notes\.txt is not a pickle.* in a zip, or in a pickle"),
        pytest.warns(DeprecationWarning),
    ):
        PPO2.load(tmp_path / "notes.txt")


def test_parameters_are_given_out_and_taken_back() -> None:
    model = small_ppo()
    names = [variable.name for variable in model.get_parameter_list()]
    values = model.get_parameters()
    assert names == list(values) and any("/pi/" in name for name in names)
    model.load_parameters({names[0]: values[names[0]] + 1}, exact_match=False)
    assert np.allclose(model.get_parameters()[names[0]], values[names[0]] + 1)
    with pytest.raises(RuntimeError, match="missing"):
        model.load_parameters({names[0]: values[names[0]]})


def test_parameters_may_be_a_list_in_order() -> None:
    model = small_ppo()
    values = [-np.ones(variable.shape) for variable in model.get_parameter_list()]
    model.load_parameters(values)
    assert all((value == -1).all() for value in model.get_parameters().values())
    with pytest.raises(RuntimeError, match=r"a list of 1, .* in the order of get_parameter_list"):
        model.load_parameters(values[:1])


def test_tensors_come_back_from_a_pickle_wherever_they_are(tmp_path: Path) -> None:
    state = {"a": torch.ones(2), "b": [{"c": torch.zeros(1)}, 3], "d": np.arange(2)}
    path = tmp_path / "state.pkl"
    path.write_bytes(as_pickle_bytes(state))
    found = state_in_pickle(path, runs_code=False)
    assert torch.equal(found["a"], torch.ones(2)) and found["d"].tolist() == [0, 1]
    inner, number = found["b"]
    assert torch.equal(inner["c"], torch.zeros(1)) and number == 3


def test_a_keyword_of_load_counts_more_than_a_custom_object(tmp_path: Path) -> None:
    A2C("MlpPolicy", "CartPole-v1", gamma=0.9).save(tmp_path / "model")
    objects = {"gamma": 0.5, "vf_coef": 0.75}
    model = A2C.load(tmp_path / "model", custom_objects=objects, gamma=0.25)
    assert (model.gamma, model.vf_coef) == (0.25, 0.75)
    assert model.agent.plan.algorithm.config.gamma == 0.25


class Boxes(ZipSerializer):
    suffix = ".box"

    def read_from(self, file: Any) -> Any:
        raise BadFile("no box")


@pytest.fixture
def another_serializer() -> Iterator[None]:
    """A serializer that comes before `zip` in every list."""
    serializers = default_kernel().registries.serializers
    serializers.register("a-box", Boxes)
    yield
    serializers.unregister("a-box")


@pytest.mark.usefixtures("another_serializer")
def test_files_are_zips_whatever_other_serializers_are_installed(tmp_path: Path) -> None:
    model = rlk_sb3.DQN("MlpPolicy", "CartPole-v1", buffer_size=64, learning_starts=8).learn(32)
    model.save(tmp_path / "model")
    model.save_replay_buffer(tmp_path / "replay")
    loaded = rlk_sb3.DQN.load(tmp_path / "model")
    loaded.load_replay_buffer(tmp_path / "replay")
    assert loaded.replay_buffer.size() == 32
