"""HER: how it learns and is loaded, policy classes, and rewards that depend on infos."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.envs.registration import EnvSpec

from rlk.errors import RlkError
from rlk_baselines import DDPG, DQN, HER, SAC, TD3
from rlk_baselines.common.bit_flipping_env import BitFlippingEnv
from rlk_baselines.common.callbacks import BaseCallback
from rlk_baselines.common.policies import register_policy
from rlk_baselines.common.vec_env import DummyVecEnv, VecCheckNan, VecNormalize
from rlk_baselines.deepq.policies import FeedForwardPolicy, LnMlpPolicy, MlpPolicy
from rlk_baselines.her import GoalSelectionStrategy, HERGoalEnvWrapper
from rlk_toy_environments.bit_flipping import BitFlippingEnv as GymnasiumsBits

OFF = {"learning_starts": 8, "batch_size": 4, "seed": 0, "n_cpu_tf_sess": 1}


class Small(FeedForwardPolicy):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs, layers=[16], feature_extraction="mlp")
        assert self.ob_space.shape == (12,), "it is made for rows"


class Priced(BitFlippingEnv):
    """A goal environment in which the reward depends on a number in `info`."""

    def step(self, action: Any) -> Any:
        observation, reward, done, info = super().step(action)
        return observation, reward - 0.5, done, {**info, "price": 0.5}

    def compute_reward(self, achieved_goal: Any, desired_goal: Any, _info: Any) -> Any:
        return super().compute_reward(achieved_goal, desired_goal, _info) - self.price(_info)

    def price(self, info: Any) -> Any:
        return info["price"]


class Optional(Priced):
    def price(self, info: Any) -> Any:
        return info.get("price", 7.0)


class Collides(BitFlippingEnv):
    """Flipping bit 0 is a collision, which only its own info says."""

    def step(self, action: Any) -> Any:
        observation, reward, done, info = super().step(action)
        collides = {"collision": True} if action == 0 else {}
        return observation, reward - 10.0 * (action == 0), done, {**info, **collides}

    def compute_reward(self, achieved_goal: Any, desired_goal: Any, _info: Any) -> Any:
        found = super().compute_reward(achieved_goal, desired_goal, _info)
        return found - 10.0 if _info.get("collision", False) else found


class Strange(Priced):
    def price(self, info: Any) -> Any:
        return info["price"]["now"]


def bits() -> Any:
    return BitFlippingEnv(4, max_steps=4)


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (DQN, OFF),
        (SAC, OFF),
        (TD3, {**OFF, "train_freq": 4, "gradient_steps": 2}),
        (DDPG, {"nb_rollout_steps": 8, "nb_train_steps": 2, "batch_size": 4, "seed": 0}),
    ],
)
def test_every_documented_model_learns_and_is_loaded(
    kind: Any, settings: dict[str, Any], tmp_path: Path
) -> None:
    env = BitFlippingEnv(4, continuous=kind is not DQN, max_steps=4)
    model = HER("MlpPolicy", env, kind, **settings)
    before = model.agent.run.parameters.flat.clone()
    model.learn(24).save(tmp_path / "model")
    assert not model.agent.run.parameters.flat.equal(before)
    observation = env.reset()
    action, _ = model.predict(observation)
    assert env.action_space.contains(action)
    loaded, _ = HER.load(tmp_path / "model", env=env).predict(observation)
    assert np.array_equal(loaded, action)


def test_ddpg_has_the_rows_and_variables_of_ddpg(capsys: pytest.CaptureFixture[str]) -> None:
    settings = {"nb_rollout_steps": 8, "nb_train_steps": 1, "batch_size": 4, "verbose": 1}
    env = BitFlippingEnv(4, continuous=True, max_steps=4)
    model, told = HER("MlpPolicy", env, DDPG, **settings), set[Any]()
    model.learn(32, lambda variables, _: told.add(variables["rank"]), log_interval=2)
    rows = re.findall(r"\| total/steps *\| (\d+)", capsys.readouterr().out)
    assert (rows, told) == (["16", "32"], {0})


@pytest.mark.parametrize("strategy", GoalSelectionStrategy)
def test_a_strategy_is_named_or_given_by_its_constant(strategy: GoalSelectionStrategy) -> None:
    for given in (strategy, strategy.name.lower()):
        model = HER("MlpPolicy", bits(), DQN, goal_selection_strategy=given, **OFF)
        assert model.agent.plan.storages[-1].config.goal_selection_strategy == strategy.value


@pytest.mark.parametrize(
    ("policy", "layer_norm"),
    [("MlpPolicy", False), ("LnMlpPolicy", True), ("CnnPolicy", False), ("LnCnnPolicy", True)],
)
def test_the_documented_policies_take_goals(policy: str, layer_norm: bool) -> None:
    env = BitFlippingEnv(4, image_obs_space="Cnn" in policy)
    chosen = HER(policy, env, DQN, **OFF).agent.plan.policy
    assert (chosen.name, chosen.config.layer_norm) == ("multi-input", layer_norm)


def test_rows_are_predicted_for_also_in_batches() -> None:
    env = HERGoalEnvWrapper(bits())
    row, model = env.reset(), HER("MlpPolicy", env, DQN, **OFF).learn(12)
    parts = env.convert_obs_to_dict(row)
    action = model.predict(row)[0]
    assert action == model.predict(parts)[0]
    assert model.predict(np.stack([row, row]))[0].tolist() == [action, action]
    assert np.array_equal(model.action_probability(row), model.action_probability(parts))


def test_a_wrapper_of_goals_shows_rows_and_knows_the_reward_of_goals() -> None:
    plain, wrapped = BitFlippingEnv(3), HERGoalEnvWrapper(BitFlippingEnv(3))
    for env in (plain, wrapped):
        env.seed(4)
    seen, row = plain.reset(), wrapped.reset()
    assert row.tolist() == [*seen["observation"], *seen["achieved_goal"], 1, 1, 1]
    seen, *rest = plain.step(1)
    row, *others = wrapped.step(1)
    assert others == rest and wrapped.observation_space.contains(row)
    apart = wrapped.convert_obs_to_dict(row)
    assert all(np.array_equal(apart[key], seen[key]) for key in seen)
    assert wrapped.convert_dict_to_obs(seen).tolist() == row.tolist()
    ones, zeros = np.ones(3, np.int8), np.zeros(3, np.int8)
    assert wrapped.compute_reward(ones, ones, {}) == 0.0
    assert wrapped.compute_reward(zeros, ones, {}) == -1.0


@pytest.mark.parametrize(
    ("policy", "name"), [(MlpPolicy, "MlpPolicy"), (LnMlpPolicy, "LnMlpPolicy")]
)
def test_a_documented_class_is_the_policy_of_its_name(policy: Any, name: str) -> None:
    of_class, of_name = (HER(one, bits(), DQN, **OFF) for one in (policy, name))
    for key, value in of_name.get_parameters().items():
        np.testing.assert_array_equal(of_class.get_parameters()[key], value)


def test_a_class_of_ones_own_is_given_rows_and_is_loaded_by_passing_it_again(tmp_path: Any) -> None:
    model = HER(Small, bits(), DQN, **OFF).learn(40)
    wrapped = HERGoalEnvWrapper(bits())
    row = wrapped.reset()
    action, _ = model.predict(row)
    assert action == model.predict(wrapped.convert_obs_to_dict(row))[0]
    policy = model.agent.run.policy
    with torch.no_grad():
        features = policy.shared.encoder(torch.from_numpy(np.asarray(row, np.float32))[None])
        assert int(policy.qf(features).argmax()) == action
    model.save(tmp_path / "model")
    loaded = HER.load(tmp_path / "model", env=bits(), policy=Small)
    assert loaded.predict(row)[0] == action
    loaded.learn(10)


def test_a_registered_name_serves_in_her_too(tmp_path: Any) -> None:
    register_policy("SmallOfHer", Small)
    model = HER("SmallOfHer", bits(), DQN, **OFF)
    model.save(tmp_path / "model")
    loaded = HER.load(tmp_path / "model")
    for name, value in model.get_parameters().items():
        np.testing.assert_array_equal(loaded.get_parameters()[name], value)


def test_a_class_learns_continuous_actions_too() -> None:
    env = BitFlippingEnv(4, continuous=True, max_steps=4)
    HER(Small, env, SAC, **OFF).learn(20)


def test_what_a_reward_asks_for_is_kept(tmp_path: Any) -> None:
    model = HER("MlpPolicy", Priced(4, max_steps=4), DQN, n_sampled_goal=2, **OFF).learn(40)
    _, _, reward, *_ = model.replay_buffer.sample(64)
    assert set(reward.tolist()) == {-0.5, -1.5}
    assert model.info_keys == ["price"]
    model.save(tmp_path / "model")
    loaded = HER.load(tmp_path / "model", env=Priced(4, max_steps=4)).learn(20)
    assert (loaded.info_keys, loaded.n_sampled_goal) == (["price"], 2)


def test_what_a_reward_can_do_without_is_kept_unless_other_keys_are_named() -> None:
    for keys, rewards in (([], {-7.0, -8.0}), (None, {-0.5, -1.5})):  # in hindsight
        env = Optional(4, max_steps=4)
        model = HER("MlpPolicy", env, DQN, n_sampled_goal=40, info_keys=keys, **OFF).learn(40)
        _, _, reward, *_ = model.replay_buffer.sample(64)
        assert set(reward.tolist()) <= rewards | {-0.5, -1.5}
        assert set(reward.tolist()) & rewards


def test_a_name_is_no_list_of_keys() -> None:
    with pytest.raises(ValueError, match="info_keys must be list of str, got 'price'"):
        HER("MlpPolicy", Priced(4), DQN, info_keys="price")
    assert HER("MlpPolicy", Priced(4), DQN, info_keys=("price",)).info_keys == ["price"]


def test_an_info_that_only_some_steps_have_is_missing_in_hindsight_where_it_was() -> None:
    env = Collides(4, max_steps=4)
    model = HER("MlpPolicy", env, DQN, n_sampled_goal=40, **OFF).learn(200)
    assert model.info_keys == ["collision"]
    _, action, reward, following, _ = model.replay_buffer.sample(200)
    reached = (following["achieved_goal"] == following["desired_goal"]).all(1)
    expected = np.where(reached, 0.0, -1.0)
    expected -= 10.0 * (action.ravel() == 0)
    np.testing.assert_array_equal(reward.ravel(), expected)
    assert len(set(expected)) == 4


def test_the_environment_that_was_passed_is_given_out() -> None:
    class Seen(BaseCallback):
        def _on_step(self) -> bool:
            return self.training_env is self.model.env

    for env in (HERGoalEnvWrapper(bits()), bits()):
        model = HER("MlpPolicy", env, DQN, **OFF)
        assert model.get_env() is model.env is env
        assert model.learn(12, callback=Seen()).num_timesteps == 12
        obs, done = env.reset(), False
        while not done:
            obs, _, done, _ = model.env.step(model.predict(obs)[0])
    other = HERGoalEnvWrapper(bits())
    model.set_env(other)
    assert model.get_env() is other
    model.learn(4)


def test_one_of_gymnasiums_interface_has_gyms() -> None:
    inner = GymnasiumsBits(n_bits=4, max_steps=4)
    model = HER("MlpPolicy", inner, DQN, **OFF)
    env = model.get_env()
    assert env is model.env and env.unwrapped is inner
    env.seed(5)
    first = env.reset()
    env.seed(5)
    again = model._env.reset()
    assert {key: part.tolist() for key, part in first.items()} == {
        key: part[0].tolist() for key, part in again.items()
    }
    before = model._env
    model.set_env(env)
    assert model._env is before
    model.set_env(HERGoalEnvWrapper(env))
    assert model._env is before and isinstance(model.get_env(), HERGoalEnvWrapper)


def test_an_error_of_a_reward_says_what_to_pass() -> None:
    with pytest.raises(RlkError, match=r"info_keys=\['KEY'\] of hindsight-replay, HER or HerR"):
        HER("MlpPolicy", Strange(4, max_steps=4), DQN, **OFF).learn(40)


def test_hindsight_with_goals_of_gyms_interface(tmp_path: Path) -> None:
    env = BitFlippingEnv(4, max_steps=4)
    model = HER("MlpPolicy", env, DQN, n_sampled_goal=2, learning_starts=10, seed=0)
    infos: list[Any] = []
    model.learn(30, callback=lambda variables, _: infos.append(variables["info"]))
    assert len(infos) == 30 and infos[0]["is_success"] in (False, True)
    assert model.is_using_her() and model.agent.plan.storages[-1].config.n_sampled_goal == 2
    model.save(tmp_path / "model")
    loaded = HER.load(tmp_path / "model", env=env)
    obs = env.reset()
    row = np.concatenate([obs[key] for key in ("observation", "achieved_goal", "desired_goal")])
    assert loaded.predict(obs)[0] == loaded.predict(row)[0] == model.predict(obs)[0]
    alone = HER.load(tmp_path / "model")
    assert alone.predict(row)[0] == loaded.predict(row)[0] and alone.get_env() is None
    with pytest.raises(ValueError, match=r"Pass one to learn: HER\.load"):
        alone.learn(5)
    alone.set_env(env)
    assert alone.learn(5).num_timesteps == 5


def test_a_model_acts_where_the_environment_of_its_id_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as registered:
        here = EnvSpec("Here-v0", lambda **_: GymnasiumsBits(4))
        registered.setitem(gymnasium.registry, "Here-v0", here)
        HER("MlpPolicy", "Here-v0", DQN, **OFF).save(tmp_path / "model")
    alone = HER.load(tmp_path / "model")
    assert alone.predict(np.zeros(12))[0] in range(4) and alone.get_env() is None
    says = r"not made again: unknown environment 'Here-v0'.* Pass one to learn"
    with pytest.raises(ValueError, match=says):
        alone.learn(5)
    alone.save(tmp_path / "again")
    monkeypatch.setitem(gymnasium.registry, "Here-v0", here)
    assert HER.load(tmp_path / "again").learn(5).num_timesteps == 5


def test_a_loaded_model_seeds_the_global_generators_as_a_new_one_does(tmp_path: Path) -> None:
    HER("MlpPolicy", bits(), DQN, **OFF).save(tmp_path / "model")
    expected = np.random.rand()
    np.random.seed(1)
    HER.load(tmp_path / "model", env=bits())
    assert np.random.rand() == expected


@pytest.mark.parametrize("wrapper", [VecCheckNan, lambda venv: VecNormalize(venv, norm_obs=False)])
def test_a_wrapper_of_a_vector_is_refused_because_it_would_be_left_out(wrapper: Any) -> None:
    wrapped = wrapper(DummyVecEnv([bits]))
    says = f"{type(wrapped).__name__} around a vector of it would have no effect"
    with pytest.raises(RlkError, match=says):
        HER("MlpPolicy", wrapped, DQN, **OFF)
    model = HER("MlpPolicy", DummyVecEnv([bits]), DQN, **OFF).learn(10)
    with pytest.raises(RlkError, match=says):
        model.set_env(wrapped)
