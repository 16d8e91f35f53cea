"""Identity environments with masks by hand."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from rlk_toy_environments.masked_identity import (
    MaskedIdentityEnv,
    MaskedIdentityEnvMultiBinary,
    MaskedIdentityEnvMultiDiscrete,
)
from rlk_vector_environments.env_state import capture, restore

MADE = [
    lambda **more: MaskedIdentityEnv(6, **more),
    lambda **more: MaskedIdentityEnv(space=gym.spaces.Discrete(4, start=2), **more),
    lambda **more: MaskedIdentityEnvMultiDiscrete(3, **more),
    lambda **more: MaskedIdentityEnvMultiBinary(4, **more),
    lambda **more: MaskedIdentityEnv(
        space=gym.spaces.MultiDiscrete(np.array([[2, 3], [4, 2]])), **more
    ),
]


@pytest.mark.parametrize("make", MADE[:4])
def test_gymnasium_finds_nothing_wrong(make):
    check_env(make(refuse=False), skip_render_check=True)


@pytest.mark.parametrize("make", MADE)
def test_what_is_shown_is_always_allowed_and_is_worth_one(make):
    env = make(chance=0.0)
    shown, _ = env.reset(seed=0)
    total = 0.0
    for step in range(100):
        shown, reward, terminated, truncated, _ = env.step(shown)
        total += reward
        assert not terminated and truncated == (step == 99)
    assert total == 100.0


@pytest.mark.parametrize(
    ("make", "shown", "places"),
    [
        (MADE[0], 3, [3]),
        (MADE[1], 5, [3]),
        (MADE[2], [2, 0], [2, 3]),
        (MADE[3], [0, 1, 0, 1], [0, 3, 4, 7]),
    ],
)
def test_with_no_chance_the_mask_is_the_right_action_alone(make, shown, places):
    env = make(chance=0.0)
    env.reset(seed=0)
    while not np.array_equal(env.state, shown):
        env.step(env.state)
    assert np.flatnonzero(env.action_masks()).tolist() == places


def test_as_many_wrong_ones_are_allowed_as_chance_says():
    env = MaskedIdentityEnv(100, chance=0.25)
    env.reset(seed=0)
    allowed = []
    for _ in range(200):
        allowed.append(int(env.action_masks().sum()) - 1)
        env.step(env.state)
    assert np.mean(allowed) == pytest.approx(99 * 0.25, abs=1.6)  # five standard deviations


@pytest.mark.parametrize("make", MADE)
def test_a_forbidden_action_is_refused_or_worth_nothing(make):
    strict, patient = make(chance=0.0), make(chance=0.0, refuse=False)
    for env in (strict, patient):
        env.reset(seed=0)
    draws = (strict.action_space.sample() for _ in range(100))
    wrong = next(action for action in draws if not np.array_equal(action, strict.state))
    with pytest.raises(ValueError, match="is forbidden; the mask is"):
        strict.step(wrong)
    assert patient.step(wrong)[1] == 0.0


def test_a_mask_is_a_copy():
    env = MaskedIdentityEnv(4)
    env.reset(seed=0)
    env.action_masks()[:] = False
    assert env.action_masks().any()


def test_a_restored_environment_has_its_mask():
    env, twin = MaskedIdentityEnv(9), MaskedIdentityEnv(9)
    env.reset(seed=1)
    twin.reset(seed=2)
    restore(twin, capture(env))
    for _ in range(5):
        assert np.array_equal(env.action_masks(), twin.action_masks())
        assert env.step(env.state) == twin.step(twin.state)


@pytest.mark.parametrize("wrong", [{"chance": 1.5}, {"space": gym.spaces.Box(-1.0, 1.0, (1,))}])
def test_what_makes_no_sense_is_refused(wrong):
    with pytest.raises(ValueError, match=r"from 0 to 1|use Discrete"):
        MaskedIdentityEnv(**wrong)


def test_without_a_size_there_are_32_numbers_and_a_tenth_of_the_wrong_ones_is_allowed():
    env = MaskedIdentityEnv()
    assert env.action_space == gym.spaces.Discrete(32)
    env.reset(seed=0)
    allowed = 0
    for _ in range(300):
        allowed += int(env.action_masks().sum()) - 1
        env.step(env.state)
    assert 0.08 < allowed / (300 * 31) < 0.12
    everything = MaskedIdentityEnv(4, chance=1.0)
    everything.reset(seed=0)
    assert everything.action_masks().all()


def test_bits_of_several_axes_have_two_options_each():
    env = MaskedIdentityEnv(space=gym.spaces.MultiBinary([2, 3]), chance=0.0)
    shown, _ = env.reset(seed=0)
    bits = shown.reshape(-1)
    assert env.action_masks().tolist() == np.stack([bits == 0, bits == 1], 1).reshape(-1).tolist()
    assert env.step(shown)[1] == 1.0
