"""Real games, if ale-py is installed: compared with a plain composition, made by id, restored."""

from __future__ import annotations

import sys

import gymnasium as gym
import numpy as np
import pytest

import rlk
from rlk.errors import PlanError
from rlk_atari import AtariGame, make_atari, wrap_deepmind
from rlk_atari.component import ale
from rlk_atari.config import AtariConfig
from rlk_atari.stable_baselines import AtariScreen
from rlk_vector_environments.env_state import capture, restore

cv2 = pytest.importorskip("cv2", reason="OpenCV is an extra")
pytest.importorskip("ale_py", reason="ale-py is an extra")


BREAKOUT = "BreakoutNoFrameskip-v4"


def game(id=BREAKOUT, **keywords):
    return ale.load()(id)(**keywords)


class Plain:
    """The preprocessing as the papers describe it, with one step of the environment per frame."""

    def __init__(self):
        self.env = game(obs_type="grayscale")
        self.lives = 0

    def reset(self, seed=None):
        self.frame, _ = self.env.reset(seed=seed)
        for _ in range(self.env.unwrapped.np_random.integers(1, 31)):
            self.frame, *_ = self.env.step(0)
        self.start()

    def start(self):
        for action in (1, 2):
            self.repeat(action)
        self.stack = [self.small()] * 4

    def repeat(self, action):
        frames, total = [], 0.0
        for _ in range(4):
            frame, reward, terminated, truncated, info = self.env.step(action)
            frames.append(frame)
            total += reward
        self.frame, self.lives = np.maximum(*frames[-2:]), info["lives"]
        return total, terminated, truncated

    def small(self):
        return cv2.resize(self.frame, (84, 84), interpolation=cv2.INTER_AREA)

    def step(self, action):
        before = self.lives
        reward, terminated, truncated = self.repeat(action)
        self.stack = [*self.stack[1:], self.small()]
        return np.sign(reward), terminated or 0 < self.lives < before, truncated


def test_it_is_the_composition_of_the_documented_wrappers():
    plain, env = Plain(), wrap_deepmind(make_atari(BREAKOUT), frame_stack=True)
    plain.reset(seed=3)
    observation, _ = env.reset(seed=3)
    rewards, lost = 0, 0
    for action in np.random.default_rng(0).integers(4, size=150).tolist():
        assert np.array_equal(observation, np.stack(plain.stack, -1))
        observation, reward, terminated, truncated, info = env.step(action)
        assert (reward, terminated, truncated) == plain.step(action)
        rewards += reward
        if terminated and "goes_on" in info:
            lost += 1
            observation, _ = env.reset()
            plain.repeat(0)
            plain.start()
    assert rewards > 0 and lost > 0, "nothing happened that could differ"


def test_make_atari_shows_the_game_in_its_colours():
    env = make_atari(BREAKOUT)
    observation, _ = env.reset(seed=1)
    assert env.observation_space.shape == (210, 160, 3) and env.observation_space.contains(
        observation
    )
    before = observation.copy()
    after, _, terminated, truncated, info = env.step(1)
    assert np.array_equal(observation, before) and not np.array_equal(after, before)
    assert not (terminated or truncated) and info == {"lives": 5}
    before = after.copy()
    assert not np.array_equal(env.step(2)[0], before) and np.array_equal(after, before)
    with pytest.raises(PlanError, match="CartPoleEnv is not one"):
        make_atari("CartPole-v1")


def test_without_make_atari_every_action_is_one_frame():
    env = wrap_deepmind(game(), episode_life=False)
    env.reset(seed=1)
    begins = env.unwrapped.ale.getEpisodeFrameNumber()
    env.step(0)
    assert (begins, env.unwrapped.ale.getEpisodeFrameNumber()) == (2, 3)


def test_the_settings_of_the_screen_are_kept():
    env = wrap_deepmind(AtariScreen(game(), AtariConfig(noop_max=0, skip=2)), episode_life=False)
    env.reset(seed=1)
    begins = env.unwrapped.ale.getEpisodeFrameNumber()
    env.step(0)
    assert (begins, env.unwrapped.ale.getEpisodeFrameNumber()) == (4, 6)


def test_how_an_id_skips_frames_by_itself_has_no_effect():
    one, two = (
        AtariGame(game(id, repeat_action_probability=0.0)) for id in ("ALE/Breakout-v5", BREAKOUT)
    )
    assert np.array_equal(one.reset(seed=2)[0], two.reset(seed=2)[0])
    for action in (2, 2, 3, 0, 2):
        assert np.array_equal(one.step(action)[0], two.step(action)[0])


def test_a_game_with_actions_repeated_by_chance_goes_on_in_another_environment():
    """After a lost life, to the end of the game and into the next one."""
    settings = AtariConfig(frame_stack=True)
    env, twin = (AtariGame(game("ALE/Breakout-v5"), settings) for _ in range(2))
    env.reset(seed=4), twin.reset(seed=5)
    actions = iter(np.random.default_rng(0).integers(4, size=2_000).tolist())
    while moved(env, next(actions))[4]["lives"] > 3:
        pass
    state = capture(env)
    assert len(str(state)) < 2_000
    restore(twin, state)
    has_ended = False
    while not has_ended:
        action = next(actions)
        found, expected = moved(twin, action), moved(env, action)
        assert np.array_equal(found[0], expected[0]) and found[1:] == expected[1:]
        has_ended = "episode" in found[4]
    assert np.array_equal(env.step(2)[0], twin.step(2)[0]), "the next game"


def moved(env, action):
    """A step; at an end, with the first observation of the next episode."""
    observation, *rest = env.step(action)
    return (env.reset()[0] if rest[1] or rest[2] else observation, *rest)


@pytest.mark.parametrize("id", [BREAKOUT, "ALE/Pong-v5"])
def test_without_the_emulator_the_message_says_how_to_install_it(monkeypatch, id):
    monkeypatch.setitem(sys.modules, "ale_py", None)
    monkeypatch.delitem(sys.modules, "rlk_atari.games", raising=False)
    with pytest.raises(PlanError, match=r'pip install "rlk-atari\[atari\]"'):
        game(id)


def test_without_opencv_the_message_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(PlanError, match=r'pip install "rlk-atari\[atari\]"'):
        rlk.make("ppo2", env="ALE/Pong-v5", plugins=["atari"], policy="cnn")


def test_other_ids_are_left_to_others():
    answer = ale.load()
    assert answer("CartPole-v1") is None and answer("acme/Pong-v5") is None
    assert "ALE/Pong-v5" in gym.registry
