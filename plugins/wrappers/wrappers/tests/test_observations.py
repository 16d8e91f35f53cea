"""`time-feature`, `history` and `transpose-image`: numbers worked out by hand."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

from rlk.errors import PlanError
from rlk_testing.environments import Walk
from rlk_testing.stand_ins import StandInVecEnv
from rlk_wrappers.action_repeat import ActionRepeat
from rlk_wrappers.config_observations import (
    HistoryConfig,
    TimeFeatureConfig,
    TransposeImageConfig,
)
from rlk_wrappers.config_steps import ActionRepeatConfig
from rlk_wrappers.history import History, numbers_of
from rlk_wrappers.time_feature import TimeFeature
from rlk_wrappers.transpose_image import TransposeImage

ACTIONS = np.zeros((2, 2), np.float32)


# ---- time-feature --------------------------------------------------------------------------------


def test_the_time_that_is_left_stands_after_the_observation(counting: Any) -> None:
    env = TimeFeature(counting(), TimeFeatureConfig(max_steps=4))
    assert env.single_observation_space == spaces.Box(
        np.array([1.0, 0.0], np.float32), np.array([1000.0, 1.0], np.float32)
    )
    shown = [env.reset()[0][0].tolist()]
    for _ in range(4):
        observation, *_, infos = env.step(ACTIONS)
        shown.append(observation[0].tolist())
        if "final_obs" in infos:
            assert infos["final_obs"][0].tolist() == [13.0, 0.25]
    assert shown == [[10, 1.0], [11, 0.75], [12, 0.5], [20, 1.0], [21, 0.75]]
    observation, _ = env.reset(options={"reset_mask": np.array([True, False])})
    assert observation[:, 1].tolist() == [1.0, 0.75]


@pytest.mark.parametrize(
    ("make", "left"),
    [
        (lambda: gym.make("CartPole-v1"), 1 - 1 / 500),
        (lambda: gym.wrappers.TimeLimit(Walk(), 40), 1 - 1 / 40),
        (Walk, 1 - 1 / 1000),
    ],
)
def test_an_environments_own_time_limit_counts_first(make: Any, left: float) -> None:
    env = TimeFeature(StandInVecEnv([make]))
    env.reset(seed=[1])
    assert env.step(np.zeros(1, np.int64))[0][0, -1] == pytest.approx(left)


def test_the_time_limit_of_a_vector_that_has_no_single_environments_counts() -> None:
    env = TimeFeature(gym.make_vec("CartPole-v1", 2, vectorization_mode="vector_entry_point"))
    env.reset(seed=1)
    assert env.step(np.zeros(2, np.int64))[0][:, -1].tolist() == pytest.approx([1 - 1 / 500] * 2)


def test_the_feature_stays_one_in_test_mode_and_is_never_below_zero(counting: Any) -> None:
    env = TimeFeature(counting(length=5), TimeFeatureConfig(max_steps=1))
    constant = TimeFeature(counting(length=5), TimeFeatureConfig(max_steps=1, test_mode=True))
    for one, expected in ((env, 0.0), (constant, 1.0)):
        one.reset()
        one.step(ACTIONS)
        assert one.step(ACTIONS)[0][:, -1].tolist() == [expected] * 2


def test_in_test_mode_the_feature_is_one_in_final_observations_too(counting: Any) -> None:
    env = TimeFeature(counting(length=1), TimeFeatureConfig(max_steps=1, test_mode=True))
    env.reset()
    infos = env.step(ACTIONS)[4]
    assert infos["final_obs"][0].tolist() == [11.0, 1.0]


def test_beside_whole_numbers_the_time_that_is_left_is_a_fraction(counting: Any) -> None:
    env = TimeFeature(counting(dtype=np.uint8), TimeFeatureConfig(max_steps=4))
    assert env.single_observation_space.dtype == np.float32
    shown = [env.reset()[0][0].tolist()]
    for _ in range(3):
        observation, *_, infos = env.step(ACTIONS)
        shown.append(observation[0].tolist())
    assert shown == [[10, 1.0], [11, 0.75], [12, 0.5], [20, 1.0]]
    assert infos["final_obs"][0].tolist() == [13.0, 0.25]


def test_where_an_action_is_repeated_the_time_is_counted_in_the_environments_own_steps() -> None:
    def make() -> Any:
        env = gym.make("Pendulum-v1", max_episode_steps=10)
        return ActionRepeat(env, ActionRepeatConfig(repeat=4))

    env = TimeFeature(StandInVecEnv([make]))
    shown = [env.reset(seed=[1])[0][0, -1]]
    for _ in range(3):
        observation, *_, infos = env.step(np.zeros((1, 1), np.float32))
        shown.append(observation[0, -1])
    assert shown == pytest.approx([1.0, 0.6, 0.2, 1.0])
    assert infos["final_obs"][0][-1] == 0.0


def test_of_a_goal_environment_the_observation_has_the_feature(counting: Any) -> None:
    env = TimeFeature(counting(key="observation"), TimeFeatureConfig(max_steps=4))
    observation, _ = env.reset()
    assert observation["observation"].tolist() == [[10, 1.0]] * 2
    assert observation["desired_goal"].shape == (2, 1)
    assert env.observation_space.contains(observation)


# ---- history -------------------------------------------------------------------------------------


def test_a_history_has_observations_and_then_the_actions_that_led_to_them(counting: Any) -> None:
    env = History(counting(), HistoryConfig(horizon=2))
    shown = [env.reset()[0][0].tolist()]
    for t in range(1, 5):
        action = np.tile(np.array([t / 10, -t / 10], np.float32), (2, 1))
        observation, *_, infos = env.step(action)
        shown.append(np.round(observation[0].astype(np.float64), 6).tolist())
        if "final_obs" in infos:
            final = np.round(infos["final_obs"][0].astype(np.float64), 6).tolist()
    assert shown == [
        [0, 10, 0, 0, 0, 0],
        [10, 11, 0, 0, 0.1, -0.1],
        [11, 12, 0.1, -0.1, 0.2, -0.2],
        [0, 20, 0, 0, 0, 0],
        [20, 21, 0, 0, 0.4, -0.4],
    ]
    assert final == [12, 13, 0.2, -0.2, 0.3, -0.3]
    assert env.observation_space.contains(observation)


def test_of_a_goal_environment_the_observation_has_the_history(counting: Any) -> None:
    env = History(counting(key="observation", length=1), HistoryConfig(horizon=2))
    env.reset()
    observation, *_, infos = env.step(np.ones((2, 2), np.float32))
    assert observation["observation"][0].tolist() == [0, 20, 0, 0, 0, 0]
    assert infos["final_obs"][0]["observation"].tolist() == [10, 11, 0, 0, 1, 1]
    assert observation["desired_goal"].shape == (2, 1) and env.observation_space.contains(
        observation
    )


@pytest.mark.parametrize(
    ("space", "actions", "numbers"),
    [
        (spaces.Discrete(3, start=5), [5, 7], [[1, 0, 0], [0, 0, 1]]),
        (spaces.MultiDiscrete([2, 3]), [[1, 0], [0, 2]], [[0, 1, 1, 0, 0], [1, 0, 0, 0, 1]]),
        (spaces.MultiBinary(2), [[1, 0], [0, 1]], [[1, 0], [0, 1]]),
        (spaces.Box(-1, 1, (1, 2)), [[[0.5, 1]], [[0, 0]]], [[0.5, 1], [0, 0]]),
    ],
)
def test_actions_are_kept_as_numbers(space: Any, actions: Any, numbers: Any) -> None:
    assert numbers_of(space)(np.array(actions)).tolist() == numbers


@pytest.mark.parametrize("wrapper", [TimeFeature, History])
def test_what_is_no_row_of_numbers_is_refused(wrapper: Any, counting: Any) -> None:
    with pytest.raises(PlanError, match=r"Box of one axis.*but they are Box\(\(2, 2\)"):
        wrapper(counting(shape=(2, 2)))
    with pytest.raises(PlanError, match="under 'observation'"):
        wrapper(counting(key="place"))


@pytest.mark.parametrize("horizon", [0, 10_001, 30_000_000])
def test_a_horizon_that_a_forged_model_could_fill_the_memory_with_is_refused(horizon: int) -> None:
    HistoryConfig(horizon=10_000)
    with pytest.raises(ValueError, match="horizon"):
        HistoryConfig(horizon=horizon)


# ---- transpose-image -----------------------------------------------------------------------------


def test_images_have_their_channels_first_also_at_an_episodes_end() -> None:
    walks = [lambda: Walk(observation="image", length=2)] * 2
    plain, env = StandInVecEnv(walks), TransposeImage(StandInVecEnv(walks))
    assert env.single_observation_space == spaces.Box(0, 255, (3, 8, 6), np.uint8)
    raw, found = plain.reset(seed=[1, 2])[0], env.reset(seed=[1, 2])[0]
    for _ in range(4):
        assert np.array_equal(found, raw.transpose(0, 3, 1, 2)) and np.any(found)
        raw, *_, infos = plain.step(np.ones(2, np.int64))
        found, *_, found_infos = env.step(np.ones(2, np.int64))
    expected = infos["final_obs"][0].transpose(2, 0, 1)
    assert np.array_equal(found_infos["final_obs"][0], expected)


def test_channels_are_last_where_the_first_axis_is_not_shorter_than_both_others() -> None:
    many = spaces.Box(0, 255, (8, 6, 8), np.uint8)
    assert TransposeImage.vector_spaces(many, None, TransposeImageConfig())[0].shape == (8, 8, 6)


def test_of_a_dict_the_images_are_transposed(counting: Any) -> None:
    env = TransposeImage(counting(key="screen", shape=(8, 6, 3), dtype=np.uint8))
    observation, _ = env.reset()
    assert observation["screen"].shape == (2, 3, 8, 6) and observation["desired_goal"].shape == (
        2,
        1,
    )


def test_without_an_image_it_is_refused(counting: Any) -> None:
    with pytest.raises(PlanError, match=r"takes images.*Leave it out"):
        TransposeImage(counting())
    screens = counting(key="screen", shape=(8, 6, 3), dtype=np.uint8)
    with pytest.raises(PlanError, match=r"under the keys \['desired_goal'\]"):
        TransposeImage(screens, TransposeImageConfig(keys=["desired_goal"]))
