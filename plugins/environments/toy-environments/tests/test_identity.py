"""Identity environments by hand."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from rlk_toy_environments.identity import (
    IdentityEnv,
    IdentityEnvBox,
    IdentityEnvMultiBinary,
    IdentityEnvMultiDiscrete,
)

MADE = [
    lambda: IdentityEnv(4),
    lambda: IdentityEnv(space=gym.spaces.Discrete(3, start=2)),
    IdentityEnvBox,
    lambda: IdentityEnvMultiDiscrete(3),
    lambda: IdentityEnvMultiBinary(5),
]


@pytest.mark.parametrize("make", MADE)
def test_gymnasium_finds_nothing_wrong(make):
    check_env(make(), skip_render_check=True)


@pytest.mark.parametrize("make", MADE)
def test_what_is_shown_is_right_and_is_worth_one(make):
    env = make()
    shown, _ = env.reset(seed=0)
    total = 0.0
    for step in range(100):
        assert env.observation_space.contains(shown)
        shown, reward, terminated, truncated, _ = env.step(shown)
        total += reward
        assert not terminated and truncated == (step == 99)
    assert total == 100.0
    env.reset()
    assert env.step(env.action_space.sample())[3] is False, "an episode counts its own steps"


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_what_is_shown_has_the_type_of_its_space(dtype):
    env = IdentityEnv(space=gym.spaces.MultiDiscrete([2, 3], dtype=dtype))
    assert env.reset(seed=0)[0].dtype == dtype


@pytest.mark.parametrize("make", MADE)
def test_it_does_not_always_show_the_same(make):
    env = make()
    env.reset(seed=0)
    assert len({str(env.step(env.action_space.sample())[0]) for _ in range(50)}) > 2


def test_anything_else_is_worth_nothing():
    env = IdentityEnvMultiDiscrete(3)
    shown, _ = env.reset(seed=0)
    assert env.step((shown + 1) % 3)[1] == 0.0


def test_a_number_is_right_within_eps():
    env = IdentityEnvBox(eps=0.25)
    for distance, reward in [(0.2, 1.0), (-0.2, 1.0), (0.3, 0.0), (-0.3, 0.0)]:
        shown, _ = env.reset(seed=0)
        assert env.step(shown + np.float32(distance))[1] == reward


@pytest.mark.parametrize("wrong", [{"dim": 2, "space": gym.spaces.Discrete(2)}, {"ep_length": 0}])
def test_what_makes_no_sense_is_refused(wrong):
    with pytest.raises(ValueError, match=r"both define|1 or more"):
        IdentityEnv(**wrong)


def test_the_default_is_one_number_and_a_size_beside_a_space_is_refused():
    assert IdentityEnv().observation_space == gym.spaces.Discrete(1)
    with pytest.raises(ValueError, match="give one of them"):
        IdentityEnv(dim=0, space=gym.spaces.Discrete(2))


def test_a_box_shows_numbers_of_its_whole_range_and_an_action_within_eps_is_right():
    env = IdentityEnvBox(low=-3.0, high=5.0)
    env.reset(seed=0)
    shown = [float(env.step(np.zeros(1))[0][0]) for _ in range(50)]
    assert -3.0 <= min(shown) < -2.0
    assert 4.0 < max(shown) <= 5.0
    for distance, reward in ((0.049, 1.0), (0.051, 0.0), (-0.049, 1.0), (-0.051, 0.0)):
        env.state = np.array([0.25], np.float32)
        assert env.step(np.array([0.25 + distance]))[1] == reward
    exact = IdentityEnvBox(eps=0.5)
    exact.state = np.zeros(1, np.float32)
    assert exact.step(np.array([0.5]))[1] == 1.0
