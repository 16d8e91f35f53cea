"""Masks beside observations: of one environment, and of vectors that others made."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv
from gymnasium.wrappers import FlattenObservation, TimeLimit

from rlk.errors import EnvironmentFailed, PlanError
from rlk_action_masking import ActionMasks, VectorActionMasks
from rlk_dummy import DummyVecEnv
from rlk_subprocess import SubprocVecEnv
from rlk_testing.environments import MaskedGame, Walk
from rlk_wrappers.action_repeat import ActionRepeat
from rlk_wrappers.config_steps import ActionRepeatConfig

SAME_STEP = {"autoreset_mode": AutoresetMode.SAME_STEP}


def first_allowed(mask):
    """The action of MaskedGame, which is numbered from 2, that a mask begins with."""
    return np.argmax(mask, -1) + 2


def test_the_mask_is_that_of_the_state_that_is_observed():
    env = ActionMasks(MaskedGame())
    observation, _ = env.reset(seed=0)
    for _ in range(30):
        assert np.array_equal(observation["action_mask"], env.unwrapped.mask)
        observation, _, terminated, truncated, _ = env.step(
            first_allowed(observation["action_mask"])
        )
        if terminated:
            assert observation["action_mask"].all(), "nothing is done here, so all may be"
        if terminated or truncated:
            observation, _ = env.reset()


def test_a_game_that_is_cut_off_has_a_mask_still():
    env = ActionMasks(TimeLimit(MaskedGame(length=50), 3))
    observation, _ = env.reset(seed=0)
    for _ in range(3):
        observation, _, _, truncated, _ = env.step(first_allowed(observation["action_mask"]))
    assert truncated and np.array_equal(observation["action_mask"], env.unwrapped.mask)


def test_a_game_that_is_cut_off_may_have_nothing_left_to_do():
    class Stuck(gym.Wrapper):
        def step(self, action):
            self.is_stuck = True
            return self.env.step(action)

        def action_masks(self):
            return [not getattr(self, "is_stuck", False)] * 6

    env = ActionMasks(TimeLimit(Stuck(MaskedGame(length=50)), 1))
    env.reset(seed=0)
    observation, _, _, truncated, _ = env.step(first_allowed(env.unwrapped.mask))
    assert truncated and not observation["action_mask"].any()


def test_masks_are_found_below_other_wrappers_and_in_them():
    class AllowsLast(gym.Wrapper):
        def action_masks(self):
            return [False] * 5 + [True]

    below = ActionMasks(FlattenObservation(TimeLimit(MaskedGame("Discrete"), 5)))
    observation, _ = below.reset(seed=0)
    assert observation["observation"].shape == (5,)
    assert np.array_equal(observation["action_mask"], below.unwrapped.mask)
    within = ActionMasks(TimeLimit(AllowsLast(MaskedGame()), 5))
    assert within.reset(seed=0)[0]["action_mask"].tolist() == [0, 0, 0, 0, 0, 1]


def test_a_dict_gets_one_key_more():
    env = ActionMasks(MaskedGame("Dict"))
    observation, _ = env.reset(seed=0)
    assert set(observation) == {"place", "room", "action_mask"}
    assert env.observation_space.contains(observation)


def test_an_environment_without_masks_is_refused():
    with pytest.raises(PlanError, match=r"'Walk' has no method action_masks\(\).*bool \[3\]"):
        ActionMasks(Walk())


def test_an_environment_that_is_given_every_action_several_times_is_refused():
    """What is allowed once may be forbidden a step later."""
    with pytest.raises(
        PlanError, match=r"takes an action 2 times.*Leave out --plugin action-repeat"
    ):
        ActionMasks(TimeLimit(ActionRepeat(MaskedGame(), ActionRepeatConfig(repeat=2)), 5))
    ActionMasks(ActionRepeat(MaskedGame(), ActionRepeatConfig(repeat=1)))


@pytest.mark.parametrize(
    ("backend", "spoil", "message"),
    [
        (DummyVecEnv, "empty", "environment 1 failed in step.*allows no action"),
        (DummyVecEnv, "short", "environment 1 failed in step.*returned 5 numbers.*6 options"),
        (DummyVecEnv, "numbers", "environment 1 failed in step.*not booleans"),
        (SubprocVecEnv, "empty", "environment 1 failed in step.*allows no action"),
    ],
)
def test_a_wrong_mask_names_its_environment(backend, spoil, message):
    games = [MaskedGame, lambda: MaskedGame(spoil=spoil, spoil_at=3)]
    env = backend([lambda game=game: ActionMasks(game()) for game in games])
    try:
        observation, _ = env.reset(seed=0)
        with pytest.raises(EnvironmentFailed, match=message):
            for _ in range(5):
                observation, *_ = env.step(first_allowed(observation["action_mask"]))
    finally:
        env.close()


# ---- vectors that others made --------------------------------------------------------------------

VECTORS = {
    "dummy": DummyVecEnv,
    "sync": lambda makers: SyncVectorEnv(makers, **SAME_STEP),
    "async": lambda makers: AsyncVectorEnv(makers, context="fork", **SAME_STEP),
}


@pytest.mark.parametrize("name", VECTORS)
def test_a_vector_gives_what_its_wrapped_environments_would(name):
    """But for the masks at an episode's end, when the vector is in the next episode already."""
    one = VectorActionMasks(VECTORS[name]([MaskedGame, lambda: MaskedGame("Box", length=5)]))
    twin = DummyVecEnv(
        [lambda: ActionMasks(MaskedGame()), lambda: ActionMasks(MaskedGame("Box", length=5))]
    )
    assert one.single_observation_space == twin.single_observation_space
    assert one.observation_space == twin.observation_space
    observation, expected = one.reset(seed=3)[0], twin.reset(seed=3)[0]
    ends = 0
    for _ in range(12):
        assert one.observation_space.contains(observation)
        for key in ("observation", "action_mask"):
            assert np.array_equal(observation[key], expected[key])
        actions = first_allowed(observation["action_mask"])
        observation, reward, terminated, truncated, infos = one.step(actions)
        expected, reward2, terminated2, truncated2, infos2 = twin.step(actions)
        assert np.array_equal(terminated, terminated2) and np.array_equal(truncated, truncated2)
        assert np.allclose(reward, reward2)
        for index in np.flatnonzero(terminated | truncated):
            final = infos["final_obs"][index]
            ends += 1
            assert final["action_mask"].all()
            last = infos2["final_obs"][index]["observation"]
            assert np.array_equal(final["observation"], last)
    assert ends == 3
    one.close()
    twin.close()


def test_a_step_of_a_vector_in_two_halves_has_masks_too():
    both = [VectorActionMasks(DummyVecEnv([MaskedGame] * 2)) for _ in range(2)]
    whole, halves = both
    halves.reset(seed=3)
    actions = first_allowed(whole.reset(seed=3)[0]["action_mask"])
    expected = whole.step(actions)[0]
    halves.step_async(actions)
    found = halves.step_wait()[0]
    assert found.keys() == expected.keys()
    assert np.array_equal(found["action_mask"], expected["action_mask"])
    for env in both:
        env.close()


class Allowed(VectorEnv):
    """Two environments that are computed together, with masks of their own."""

    metadata = SAME_STEP
    num_envs = 2
    single_observation_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)
    single_action_space = gym.spaces.Discrete(3)

    def __init__(self, masks):
        self.masks = masks

    def reset(self, **_):
        return np.zeros((2, 1), np.float32), {}

    def action_masks(self):
        return self.masks


def test_a_vector_may_have_masks_of_its_own():
    env = VectorActionMasks(Allowed(np.array([[1, 0, 1], [0, 1, 0]])))
    assert env.reset()[0]["action_mask"].tolist() == [[1, 0, 1], [0, 1, 0]]


@pytest.mark.parametrize(
    ("masks", "message"),
    [
        ([[1, 0, 1], [0, 0, 0]], "environment 1: .* allows no action"),
        ([[1, 0, 1], [0, 1]], "environment 1: .* returned 2 numbers"),
        ([[1, 0, 1]], "Allowed returned an array of length 1, and num_envs is 2"),
    ],
)
def test_a_wrong_mask_of_a_vector_names_the_environment(masks, message):
    with pytest.raises(EnvironmentFailed, match=message):
        VectorActionMasks(Allowed(masks)).reset()


class Mute(gym.Wrapper):
    """A game that does not have masks."""

    def __init__(self):
        super().__init__(gym.Env())
        self.observation_space = MaskedGame().observation_space
        self.action_space = MaskedGame().action_space


@pytest.mark.parametrize("name", VECTORS)
def test_a_vector_whose_environments_have_no_masks_is_refused(name):
    vector = VECTORS[name]([MaskedGame, Mute])
    with pytest.raises(PlanError, match=r"environment 1 of .*Env has no method action_masks"):
        VectorActionMasks(vector)
    vector.close()


def test_a_vector_that_cannot_say_whether_it_has_masks_is_asked_for_them():
    class Calls(VectorEnv):
        metadata, num_envs = SAME_STEP, 2
        single_observation_space = Allowed.single_observation_space
        single_action_space = Allowed.single_action_space
        allowed = ("action_masks",)

        def reset(self, **_):
            return np.zeros((2, 1), np.float32), {}

        def call(self, name, *_):
            if name not in self.allowed:
                raise AttributeError(f"there is no {name}")
            return [[1, 0, 1], [0, 1, 0]]

    env = VectorActionMasks(Calls())
    assert env.reset()[0]["action_mask"].tolist() == [[1, 0, 1], [0, 1, 0]]
    Calls.allowed = ()
    with pytest.raises(EnvironmentFailed, match=r"action_masks.*train without action-masking"):
        env.reset()


def test_a_vector_that_cannot_be_asked_is_refused():
    class Mute(VectorEnv):
        single_observation_space = single_action_space = gym.spaces.Discrete(3)
        num_envs = 1

    with pytest.raises(PlanError, match=r"Mute has neither action_masks\(\)"):
        VectorActionMasks(Mute())
