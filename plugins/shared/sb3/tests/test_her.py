"""Programs for Stable-Baselines3 that use hindsight replay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from rlk.errors import RlkError
from rlk_baselines import HER
from rlk_sb3 import DDPG, DQN, SAC, TD3, HerReplayBuffer
from rlk_sb3.common.buffers import DictReplayBuffer, ReplayBuffer
from rlk_sb3.common.envs import BitFlippingEnv
from rlk_sb3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecMonitor
from rlk_sb3.her import GoalSelectionStrategy
from rlk_sb3.her.goal_selection_strategy import KEY_TO_GOAL_STRATEGY

GOALS = {"n_sampled_goal": 3, "goal_selection_strategy": GoalSelectionStrategy.FINAL}
SMALL: dict[str, Any] = {"learning_starts": 20, "buffer_size": 200, "batch_size": 8, "seed": 0}


def by_hindsight(model: Any, env: Any, **keywords: Any) -> Any:
    keywords = {"replay_buffer_kwargs": GOALS, **SMALL, **keywords}
    return model("MultiInputPolicy", env, replay_buffer_class=HerReplayBuffer, **keywords)


def settings(model: Any) -> Any:
    """The settings of hindsight replay in the plan of the model's agent."""
    storages = model.agent.plan.storages
    return next(one.config for one in storages if one.name == "hindsight-replay")


@pytest.mark.parametrize("algorithm", [DQN, DDPG, SAC, TD3])
def test_every_model_with_a_replay_learns_by_hindsight(algorithm: Any) -> None:
    env = BitFlippingEnv(n_bits=4, continuous=algorithm is not DQN, max_steps=4)
    model = by_hindsight(algorithm, env).learn(60)
    found = settings(model)
    assert (found.n_sampled_goal, found.goal_selection_strategy) == (3, "final")
    assert model.agent.run.clock.updates > 0


def test_a_saved_model_continues_with_hindsight(tmp_path: Path) -> None:
    env = BitFlippingEnv(n_bits=4)
    by_hindsight(DQN, env).learn(40).save(tmp_path / "model")
    loaded = DQN.load(tmp_path / "model", env=env)
    assert loaded.replay_buffer_class is HerReplayBuffer
    assert settings(loaded).n_sampled_goal == 3
    assert loaded.learn(20, reset_num_timesteps=False).num_timesteps == 60
    changed = DQN.load(tmp_path / "model", env=env, replay_buffer_kwargs={"n_sampled_goal": 2})
    assert settings(changed).n_sampled_goal == 2
    with pytest.raises(ValueError, match=r"compute_reward.*DQN\.load\(path, env=env\)"):
        DQN.load(tmp_path / "model")


class Priced(BitFlippingEnv):
    """Its reward depends on a number that the info of every step has."""

    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, reward - 0.5, terminated, truncated, {**info, "price": 0.5}

    def compute_reward(self, achieved_goal: Any, desired_goal: Any, info: Any) -> Any:
        found = super().compute_reward(achieved_goal, desired_goal, info)
        if isinstance(info, dict):
            return found - info["price"]
        return found - np.array([one["price"] for one in info])


def test_rewards_may_depend_on_the_infos_of_the_transitions(tmp_path: Path) -> None:
    env = Priced(n_bits=4)
    model = by_hindsight(DQN, env, replay_buffer_kwargs={"copy_info_dict": True}).learn(40)
    assert settings(model).info_keys == ["price"]
    assert set(model.replay_buffer.sample(64).rewards.ravel().tolist()) == {-0.5, -1.5}
    model.save(tmp_path / "model")
    loaded = DQN.load(tmp_path / "model", env=env).learn(20)
    assert settings(loaded).info_keys == ["price"]
    with pytest.raises(RlkError, match=r"compute_reward fails .* 'price'"):
        by_hindsight(DQN, env, replay_buffer_kwargs={"copy_info_dict": False}).learn(40)


def in_workers(env_fns: Any) -> Any:
    return SubprocVecEnv(env_fns, start_method="fork")


class MayBePriced(Priced):
    """Its reward reads the number only if it is there."""

    def compute_reward(self, achieved_goal: Any, desired_goal: Any, info: Any) -> Any:
        if isinstance(info, dict):
            info = {"price": info.get("price", 7.0)}
        return super().compute_reward(achieved_goal, desired_goal, info)


@pytest.mark.parametrize(
    "vector", [DummyVecEnv, in_workers, lambda env_fns: VecMonitor(in_workers(env_fns))]
)
@pytest.mark.parametrize("env", [Priced, MayBePriced])
def test_infos_are_found_in_any_vector_even_if_they_are_read_by_get(vector: Any, env: Any) -> None:
    venv = vector([lambda: env(n_bits=4)] * 2)
    model = by_hindsight(DQN, venv, replay_buffer_kwargs={"copy_info_dict": True}).learn(40)
    assert settings(model).info_keys == ["price"]
    assert set(model.replay_buffer.sample(64).rewards.ravel().tolist()) == {-0.5, -1.5}
    venv.close()


class Collides(BitFlippingEnv):
    """Flipping bit 0 is a collision, which only its own info says."""

    def step(self, action: Any) -> Any:
        observation, reward, *ends, info = super().step(action)
        collides = {"collision": True} if action == 0 else {}
        return observation, reward - 10.0 * (action == 0), *ends, {**info, **collides}

    def compute_reward(self, achieved_goal: Any, desired_goal: Any, info: Any) -> Any:
        found = super().compute_reward(achieved_goal, desired_goal, info)
        return found - 10.0 * ("collision" in info)


@pytest.mark.parametrize("vector", [DummyVecEnv, in_workers])
def test_an_info_that_only_some_steps_have_is_missing_in_hindsight_where_it_was(
    vector: Any,
) -> None:
    venv = vector([lambda: Collides(n_bits=4)] * 2)
    keywords = {"copy_info_dict": True, "n_sampled_goal": 20}
    model = by_hindsight(DQN, venv, replay_buffer_kwargs=keywords).learn(200)
    assert settings(model).info_keys == ["collision"]
    found = model.replay_buffer.sample(200)
    following = found.next_observations
    reached = (following["achieved_goal"] == following["desired_goal"]).all(-1).ravel()
    expected = reached.float() - 1.0 - 10.0 * (found.actions.ravel() == 0)
    np.testing.assert_array_equal(found.rewards.ravel(), expected)
    assert len(set(expected.tolist())) == 4
    venv.close()


def test_infos_may_be_named_too() -> None:
    for keys, rewards in ((("price",), {-0.5, -1.5}), ([], {-0.5, -1.5, -7.0, -8.0})):
        keywords = {"copy_info_dict": True, "info_keys": keys, "n_sampled_goal": 20}
        model = by_hindsight(DQN, MayBePriced(n_bits=4), replay_buffer_kwargs=keywords).learn(40)
        assert settings(model).info_keys == list(keys)
        found = set(model.replay_buffer.sample(200).rewards.ravel().tolist())
        assert found <= rewards and ({-7.0, -8.0} & rewards <= found)


def test_a_name_is_no_list_of_keys() -> None:
    with pytest.raises(ValueError, match="info_keys must be list of str, got 'price'"):
        by_hindsight(DQN, Priced(n_bits=4), replay_buffer_kwargs={"info_keys": "price"})


def test_what_hindsight_does_not_have_says_so() -> None:
    env = BitFlippingEnv(n_bits=4)
    for keywords, message in (
        ({"n_goals": 1}, "no n_goals; replay_buffer_kwargs may hold n_sampled_goal"),
        (4, "replay_buffer_kwargs must be a dict or None, got 4"),
        ({"handle_timeout_termination": False}, "handle_timeout_termination is True here"),
    ):
        with pytest.raises(ValueError, match=message):
            by_hindsight(DQN, env, replay_buffer_kwargs=keywords)
    with pytest.raises(ValueError, match=r"is for replay_buffer_class=HerReplayBuffer"):
        DQN("MultiInputPolicy", env, replay_buffer_kwargs=GOALS)
    with pytest.raises(ValueError, match="pass replay_buffer_class=HerReplayBuffer"):
        HerReplayBuffer(10)
    assert KEY_TO_GOAL_STRATEGY["future"] is GoalSelectionStrategy.FUTURE


@pytest.mark.parametrize("algorithm", [DQN, DDPG, SAC, TD3])
def test_her_of_stable_baselines_says_how_these_models_learn_by_hindsight(algorithm: Any) -> None:
    env = BitFlippingEnv(n_bits=4, continuous=algorithm is not DQN)
    told = (
        rf"of rlk_sb3 .*: {algorithm.__name__}\('MultiInputPolicy', env, replay_buffer_class="
        rf"HerReplayBuffer, replay_buffer_kwargs=.*or take {algorithm.__name__} of rlk_baselines"
    )
    with pytest.raises(ValueError, match=told):
        HER("MlpPolicy", env, algorithm)


def test_a_vector_in_a_wrapper_is_asked_for_rewards() -> None:
    def env() -> Any:
        return BitFlippingEnv(n_bits=4, max_steps=4)

    model = by_hindsight(DQN, VecMonitor(DummyVecEnv([env, env]))).learn(40)
    assert model.agent.run.clock.updates > 0
    vector = VecMonitor(DummyVecEnv([lambda: gymnasium.make("CartPole-v1")]))
    with pytest.raises(ValueError, match="Dict"):
        by_hindsight(DQN, vector)


def test_the_usual_replay_may_be_named() -> None:
    env = BitFlippingEnv(n_bits=4)
    kwargs: dict[str, Any] = {"handle_timeout_termination": True}
    for kind in (None, ReplayBuffer, DictReplayBuffer):
        keywords = {"replay_buffer_class": kind, "replay_buffer_kwargs": kwargs, **SMALL}
        model = DQN("MultiInputPolicy", env, optimize_memory_usage=True, **keywords)
        assert [one.name for one in model.agent.plan.storages] == ["replay"]
    with pytest.raises(ValueError, match="An episode that was cut short"):
        DQN("MultiInputPolicy", env, replay_buffer_kwargs={"handle_timeout_termination": False})
