from __future__ import annotations

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from rlk.errors import PlanError
from rlk_baselines import DQN, PPO2, gym
from rlk_baselines.bench import Monitor
from rlk_baselines.common import make_vec_env
from rlk_baselines.common.atari_wrappers import (
    ClipRewardEnv,
    EpisodicLifeEnv,
    FireResetEnv,
    FrameStack,
    LazyFrames,
    MaxAndSkipEnv,
    NoopResetEnv,
    ScaledFloatFrame,
    wrap_deepmind,
)
from rlk_baselines.gym.making import four_values


class Asked(gymnasium.Env):
    """Asks for `return_info`, as in gym 0.22, and has Gymnasium's interface nevertheless."""

    observation_space = action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, return_info=False, options=None):
        return 0, {}

    def step(self, action):
        return 0, 1.0, False, False, {}


def test_the_time_limit_of_a_reset_that_may_give_no_info_is_kept() -> None:
    env = four_values(gymnasium.wrappers.TimeLimit(Asked(), 2))
    assert env.reset() == 0
    assert [env.step(0)[2] for _ in range(2)] == [False, True]


class Game(gym.Env):
    """Observes the number of the frame; the second life, and so the game, ends at frame 9."""

    observation_space = spaces.Box(0, 255, (2, 2, 1), np.uint8)
    action_space = spaces.Discrete(4)

    def __init__(self, meanings=("NOOP", "FIRE", "RIGHT", "LEFT")):
        self.meanings = list(meanings)
        self.ale = self
        self.actions: list[int] = []
        self.np_random = np.random.default_rng(0)

    def get_action_meanings(self):
        return self.meanings

    def lives(self):
        return 2 if self.frame < 5 else 1

    def reset(self, **kwargs):
        self.frame = 0
        self.actions = []
        return self.seen()

    def step(self, action):
        self.frame += 1
        self.actions.append(action)
        return self.seen(), -3.0, self.frame == 9, {"frame": self.frame}

    def seen(self):
        # The object is only drawn in every second frame.
        return np.full((2, 2, 1), self.frame * 10 * (self.frame % 2), np.uint8)


def test_a_game_begins_with_no_ops_or_by_pressing_fire() -> None:
    game = Game()
    env = NoopResetEnv(game, noop_max=3)
    lengths = set()
    for _ in range(40):
        env.reset()
        lengths.add(len(game.actions))
    assert lengths == {1, 2, 3}
    env.override_num_noops = 4
    env.reset()
    assert game.actions == [0] * 4
    FireResetEnv(game).reset()
    assert game.actions == [1, 2]
    with pytest.raises(PlanError, match="action 1 of an Atari game is FIRE"):
        FireResetEnv(Game(["NOOP", "UP", "RIGHT"]))
    with pytest.raises(PlanError, match="are without names"):
        NoopResetEnv(gym.make("CartPole-v1"))


def test_a_game_that_is_over_at_its_start_is_begun_again() -> None:
    noops = NoopResetEnv(Game())
    noops.override_num_noops = 12  # three more than its frames
    assert noops.reset().max() == 30 and noops.unwrapped.actions == [0, 0, 0]
    for end in (1, 2):

        class Short(Game):
            last = end

            def step(self, action):
                *seen, _, info = super().step(action)
                return *seen, self.frame == self.last, info

        fire = FireResetEnv(Short())
        assert fire.reset().max() == 0 and fire.unwrapped.actions == []


def test_an_action_lasts_some_frames_of_which_the_brighter_of_two_is_shown() -> None:
    env = MaxAndSkipEnv(Game(), skip=4)
    env.reset()
    observation, reward, done, info = env.step(3)
    assert (observation.max(), reward, done, info) == (30, -12.0, False, {"frame": 4})
    env.step(3)
    assert env.step(3)[1:3] == (-3.0, True)  # the game ended with its first frame


def test_an_episode_ends_with_a_life_and_the_game_continues() -> None:
    env = EpisodicLifeEnv(Game())
    env.reset()
    dones = [env.step(2)[2] for _ in range(5)]
    assert dones == [False] * 4 + [True] and not env.was_real_done
    env.reset()
    assert env.unwrapped.frame == 6  # by an action that does nothing
    dones = [env.step(2)[2] for _ in range(3)]
    assert dones == [False, False, True] and env.was_real_done
    env.reset()
    assert env.unwrapped.frame == 0


class Lives(Game):
    """Has these lives at its frames; it is over at the last of them."""

    told = (2, 0, 0, 2, 1, 1)

    def lives(self):
        return self.told[self.frame]

    def step(self, action):
        *seen, _, info = super().step(action)
        return *seen, self.frame == len(self.told) - 1, info


def test_a_life_is_lost_where_fewer_are_left_but_not_none() -> None:
    env = EpisodicLifeEnv(Lives())
    env.reset()
    assert [env.step(2)[2] for _ in range(4)] == [False, False, False, True]
    env.reset()
    assert env.unwrapped.frame == 0 and env.lives == 2, "the no-op was the last frame"

    class Fast(Lives):
        told = (2, 1, 1, 1)

    env = EpisodicLifeEnv(Fast())
    for _ in range(2):
        env.reset()
        assert env.step(2)[2], "the first frame of a game costs a life"
        assert not env.was_real_done
        env.was_real_done = True


def test_the_brighter_of_the_last_two_frames_is_shown() -> None:
    class Darkens(Game):
        def seen(self):
            return np.full((2, 2, 1), 200 - 10 * self.frame, np.uint8)

    env = MaxAndSkipEnv(Darkens(), skip=4)
    env.reset()
    assert env.step(3)[0].max() == 170, "of the third frame"


def test_rewards_are_signs_and_frames_are_stacked_and_scaled() -> None:
    env = FrameStack(ScaledFloatFrame(ClipRewardEnv(Game())), 3)
    assert env.observation_space == spaces.Box(0, 1, (2, 2, 3), np.float32)
    first = env.reset()
    observation, reward, _, _ = env.step(0)
    assert isinstance(first, LazyFrames) and np.asarray(first).max() == 0
    assert reward == -1.0
    assert observation[0, 0].tolist() == pytest.approx([0, 0, 10 / 255])
    assert len(observation) == 2 and np.asarray(observation, np.float64).dtype == np.float64


def test_an_array_of_lazy_frames_is_a_copy_unless_none_is_asked_for():
    frames = LazyFrames([np.zeros((2, 2, 1)), np.ones((2, 2, 1))])
    copied, seen = np.array(frames), np.asarray(frames)
    copied[:] = 7.0
    assert seen.max() == 1.0 and np.shares_memory(np.asarray(frames), seen)
    assert np.asarray(frames, np.float32).dtype == np.float32


class Colours(Game):
    """A game that is not Atari's, with colours."""

    observation_space = spaces.Box(0, 255, (10, 10, 3), np.uint8)

    def seen(self):
        return np.full((10, 10, 3), 255, np.uint8)


def test_the_preprocessing_of_other_games_has_the_parts_that_are_asked_for() -> None:
    pytest.importorskip("cv2")
    plain = {"episode_life": False, "clip_rewards": False}
    for options, shape, dtype, largest, at_life, reward in (
        ({}, (84, 84, 1), np.uint8, 255, True, -1.0),
        (plain, (84, 84, 1), np.uint8, 255, False, -3.0),
        ({**plain, "scale": True}, (84, 84, 1), np.float32, 1, False, -3.0),
        ({**plain, "frame_stack": True}, (84, 84, 4), np.uint8, 255, False, -3.0),
    ):
        env = wrap_deepmind(Colours(), **options)
        first = np.asarray(env.reset())
        assert env.observation_space.shape == first.shape == shape
        assert env.observation_space.dtype == first.dtype == dtype and first.max() == largest
        assert env.unwrapped.actions == [1, 2], "FIRE, and RIGHT"
        *_, (_, last_reward, done, _) = [env.step(0) for _ in range(3)]
        assert (done, last_reward) == (at_life, reward)


def test_gyms_wrappers_stand_around_environments_of_its_interface() -> None:
    env = gym.wrappers.FrameStack(gym.make("CartPole-v1"), 3)
    env.seed(1)
    assert np.asarray(env.reset()).shape == (3, 4)
    assert len(env.step(0)) == 4
    env = gym.wrappers.RescaleAction(gym.make("Pendulum-v1"), -1, 1)
    assert env.action_space.high.tolist() == [1] and env.reset().shape == (3,)
    env = gym.wrappers.TransformReward(gym.make("CartPole-v1"), lambda reward: 3 * reward)
    env.reset()
    assert env.step(0)[1] == 3.0
    with pytest.raises(ImportError, match=r"bench\.Monitor"):
        _ = gym.wrappers.Monitor


def test_whatever_is_made_or_wrapped_is_an_env_of_gyms(counting) -> None:
    class Paid(gym.Wrapper):
        metadata = {"render.modes": ["human"]}

    class Bounded(counting):
        reward_range = (0.0, 1.0)

    class Signs(gym.Wrapper):
        reward_range = (-1.0, 1.0)

    made = gym.make("CartPole-v1")
    adopted = gym.wrappers.TimeLimit(Bounded(), 5)
    model = DQN("MlpPolicy", gymnasium.make("CartPole-v1"), buffer_size=50, batch_size=4)
    monitored = Monitor(made, None)
    for env in (made, made.env, Paid(made), monitored, adopted, adopted.env, model.get_env()):
        assert isinstance(env, gym.Env) and isinstance(env, gymnasium.Env), env
    assert not isinstance(gymnasium.make("CartPole-v1"), gym.Env)
    assert made.reward_range == (-np.inf, np.inf) and adopted.reward_range == (0.0, 1.0)
    assert made.metadata == made.unwrapped.metadata
    assert monitored.reward_range == made.reward_range and Signs(made).reward_range == (-1, 1)
    monitored.reward_range = (0, 2)
    assert monitored.reward_range == (0, 2)
    assert Paid(made).metadata == {"render.modes": ["human"], "render_modes": ["human"]}


def test_registered_environments_are_found_by_gyms_methods() -> None:
    registry = gym.envs.registry
    assert registry.spec("CartPole-v1").id == "CartPole-v1" in registry.env_specs
    assert "CartPole-v1" in [one.id for one in registry.all()]


def test_render_modes_of_gyms_name_are_known_to_gymnasium() -> None:
    class Shown(gym.Env):
        metadata = {"render.modes": ["human"]}
        observation_space = gym.spaces.Box(-1, 1, (2,), np.float32)
        action_space = gym.spaces.Discrete(2)

        def reset(self):
            return np.zeros(2, np.float32)

        def step(self, action):
            return np.zeros(2, np.float32), 0.0, True, {}

    class Filmed(Shown):
        metadata = {"render.modes": ["human", "rgb_array"]}

    for kind, modes in ((Shown, ["human"]), (Filmed, ["human", "rgb_array"])):
        gym.register("Shown-v0", entry_point=kind)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                assert gym.make("Shown-v0").reset().tolist() == [0.0, 0.0]
                PPO2("MlpPolicy", "Shown-v0", n_steps=4, nminibatches=1)
        finally:
            del gymnasium.registry["Shown-v0"]
        assert kind.metadata == {"render.modes": modes, "render_modes": modes}


def test_a_vector_takes_wrappers_of_both_interfaces() -> None:
    class Doubled(gym.RewardWrapper):
        def reward(self, reward: float) -> float:
            return 2 * reward

    for wrapper, reward in ((gymnasium.wrappers.NormalizeObservation, 1.0), (Doubled, 2.0)):
        env = make_vec_env("CartPole-v1", n_envs=2, seed=0, wrapper_class=wrapper)
        assert env.reset().shape == (2, 4)
        seen, rewards, dones, infos = env.step([0, 1])
        assert seen.shape == (2, 4) and rewards.tolist() == [reward] * 2
        assert dones.tolist() == [False, False] and len(infos) == 2
        env.close()
