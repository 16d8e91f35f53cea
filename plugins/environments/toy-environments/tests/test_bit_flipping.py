"""Bit flipping by hand, in all its forms."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from rlk_toy_environments.bit_flipping import BitFlippingEnv
from rlk_vector_environments.env_state import capture, restore

FORMS = [
    {},
    {"continuous": True},
    {"discrete_obs_space": True},
    {"image_obs_space": True},
    {"random_goal": True},
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.filterwarnings("ignore:.*Box observation space.*")
def test_gymnasium_finds_nothing_wrong(form):
    check_env(BitFlippingEnv(n_bits=5, **form), skip_render_check=True)


def start(bits, **form):
    env = BitFlippingEnv(n_bits=len(bits), **form)
    env.reset(seed=0)
    env.state[:] = bits
    return env


def test_one_flip_at_a_time_leads_to_all_ones():
    env = start([0, 1, 0])
    observation, reward, terminated, truncated, info = env.step(0)
    assert observation["observation"].tolist() == [1, 1, 0]
    assert observation["achieved_goal"].tolist() == [1, 1, 0]
    assert observation["desired_goal"].tolist() == [1, 1, 1]
    assert (reward, terminated, truncated, info) == (-1.0, False, False, {"is_success": False})
    observation, *result = env.step(2)
    assert observation["observation"].tolist() == [1, 1, 1]
    assert result == [0.0, True, False, {"is_success": True}]


def test_a_bit_that_is_flipped_twice_is_as_it_was():
    env = start([0, 1, 0])
    env.step(1)
    assert env.step(1)[0]["observation"].tolist() == [0, 1, 0]


def test_continuous_actions_above_zero_flip_their_bits():
    env = start([0, 1, 0], continuous=True)
    assert env.action_space == gym.spaces.Box(-1.0, 1.0, (3,), np.float32)
    observation, reward, terminated, *_ = env.step(np.array([0.1, -0.9, 0.0], np.float32))
    assert observation["observation"].tolist() == [1, 1, 0]
    assert (reward, terminated) == (-1.0, False)
    assert env.step(np.array([-1.0, 0.0, 1.0], np.float32))[1:3] == (0.0, True)


@pytest.mark.parametrize(("max_steps", "steps"), [(None, 3), (5, 5)])
def test_an_episode_is_truncated_after_its_steps(max_steps, steps):
    env = start([0, 0, 0], max_steps=max_steps)
    ends = [env.step(0)[2:4] for _ in range(steps)]
    assert ends == [(False, False)] * (steps - 1) + [(False, True)]
    env.reset()
    env.state[:] = 0
    assert env.step(0)[2:4] == (False, False), "an episode counts its own steps"


def test_reaching_the_goal_in_the_last_step_is_no_truncation():
    env = start([1, 0], max_steps=1)
    assert env.step(1)[2:4] == (True, False)


def test_a_pattern_as_a_number_has_its_first_bit_highest():
    env = start([1, 0, 1, 1], discrete_obs_space=True)
    observation = env.step(1)[0]
    assert env.observation_space["observation"] == gym.spaces.Discrete(16)
    assert observation["observation"] == 15 == observation["desired_goal"]
    assert env.step(3)[0]["achieved_goal"] == 14


def test_a_pattern_as_a_picture_has_a_square_for_every_bit():
    env = start([1, 0, 1, 1, 0], image_obs_space=True)
    image = env.step(4)[0]["observation"]
    assert image.shape == (36, 36, 1)
    # Five bits in a grid of three by three: squares of twelve pixels.
    assert image[6::12, 6::12, 0].tolist() == [[255, 0, 255], [255, 255, 0], [0, 0, 0]]
    assert (image[:12, :12] == 255).all() and (image[:12, 12:24] == 0).all()


@pytest.mark.parametrize("form", FORMS)
def test_rewards_of_a_batch_are_those_of_its_rows(form):
    env = BitFlippingEnv(n_bits=2, **form)
    seen = [env.reset(seed=seed)[0] for seed in range(12)]
    achieved = np.stack([one["achieved_goal"] for one in seen])
    desired = np.stack([one["desired_goal"] for one in seen])
    both = list(zip(achieved, desired, strict=True))
    one_by_one = [env.compute_reward(a, d, {}) for a, d in both]
    assert all(type(reward) is float for reward in one_by_one)
    assert set(one_by_one) == {0.0, -1.0}
    assert env.compute_reward(achieved, desired, {}).tolist() == one_by_one
    ends = env.compute_terminated(achieved, desired, {})
    assert ends.tolist() == [reward == 0.0 for reward in one_by_one]
    assert all(type(env.compute_terminated(a, d, {})) is bool for a, d in both)


def test_what_step_says_is_what_compute_reward_says():
    env = BitFlippingEnv(n_bits=2, random_goal=True)
    env.reset(seed=3)
    for _ in range(40):
        observation, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        goals = observation["achieved_goal"], observation["desired_goal"]
        assert reward == env.compute_reward(*goals, {})
        assert terminated == env.compute_terminated(*goals, {})
        if terminated or truncated:
            env.reset()


def test_the_goal_is_all_ones_unless_it_is_random():
    goals = {tuple(BitFlippingEnv(4).reset(seed=seed)[0]["desired_goal"]) for seed in range(20)}
    assert goals == {(1, 1, 1, 1)}
    env = BitFlippingEnv(4, random_goal=True)
    assert len({tuple(env.reset(seed=seed)[0]["desired_goal"]) for seed in range(20)}) > 5


def test_observations_are_copies():
    env = start([0, 0, 0])
    first = env.step(0)[0]
    kept = {key: value.copy() for key, value in first.items()}
    env.step(1)
    assert all(np.array_equal(first[key], kept[key]) for key in kept)
    first["desired_goal"][:] = 0
    assert env.goal.tolist() == [1, 1, 1]


def test_a_restored_environment_goes_on_where_it_was():
    env, twin = BitFlippingEnv(6, random_goal=True), BitFlippingEnv(6, random_goal=True)
    env.reset(seed=1)
    env.step(2)
    twin.reset(seed=2)
    restore(twin, capture(env))
    for action in (0, 1, 2, 3, 4):
        one, two = env.step(action), twin.step(action)
        assert one[1:] == two[1:]
        assert all(np.array_equal(one[0][key], two[0][key]) for key in one[0])
    one, two = env.reset()[0], twin.reset()[0]
    assert all(np.array_equal(one[key], two[key]) for key in one)


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_bits": 0, "max_steps": 5},
        {"max_steps": 0},
        {"discrete_obs_space": True, "image_obs_space": True},
        {"n_bits": 1297, "image_obs_space": True},
    ],
)
def test_what_makes_no_sense_is_refused(wrong):
    with pytest.raises(ValueError, match=r"must be 1 or more|not both|room for 1296"):
        BitFlippingEnv(**wrong)


def test_an_image_of_as_many_bits_as_pixels_shows_each_in_its_place():
    env = BitFlippingEnv(n_bits=1296, image_obs_space=True)
    observation, _ = env.reset(seed=0)
    assert observation["achieved_goal"].reshape(-1).tolist() == [
        255 * int(bit) for bit in env.state
    ]
