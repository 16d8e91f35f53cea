"""`atari` on a game whose frames count up: an odd frame is bright on the left."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
from stand_in_game import StandInGame

from rlk.errors import PlanError
from rlk_atari import deepmind
from rlk_atari.config import AtariConfig
from rlk_atari.deepmind import AtariGame
from rlk_vector_environments.env_state import Unsupported, capture, restore

pytest.importorskip("cv2", reason="OpenCV is an extra")

NOOP, FIRE, RIGHT, LEFT, DOWN = range(5)
#: The frames of a game, from its first one on, as images of two pixels: left and right.
PLAIN = {"noop_max": 0, "width": 2, "height": 1}


def played(game, **settings):
    """The wrapper around a stand-in game, already reset, and the frames that it has played."""
    env = AtariGame(StandInGame(**game), AtariConfig(**{**PLAIN, **settings}))
    env.reset(seed=1)
    return env, env.unwrapped.ale


def test_an_action_is_repeated_and_the_brighter_of_the_last_two_frames_is_seen():
    env, ale = played({"fires": False})
    observation, reward, *_ = env.step(LEFT)
    assert ale.played == [LEFT] * 4 and ale.frames == 4
    assert observation.tolist() == [[[3], [4]]]
    assert reward == 1.0


def test_one_frame_for_each_action_is_seen_as_it_is():
    env, _ = played({"fires": False}, skip=1)
    assert env.step(LEFT)[0].tolist() == [[[1], [0]]]
    assert env.step(LEFT)[0].tolist() == [[[0], [2]]]


@pytest.mark.parametrize(
    ("clip_rewards", "expected"), [(True, [1.0, -1.0, 0.0]), (False, [12.0, -8.0, 0.0])]
)
def test_rewards_are_clipped_to_their_sign_or_summed(clip_rewards, expected):
    env, _ = played({"fires": False}, clip_rewards=clip_rewards)
    assert [env.step(action)[1] for action in (LEFT, DOWN, NOOP)] == expected


def test_a_pixel_is_the_mean_of_what_it_covers():
    env, _ = played({"fires": False}, width=1)
    assert env.step(NOOP)[0].item() == 4  # the mean of 3 and 4 is 3.5, rounded to the even number


def test_games_begin_with_a_random_number_of_frames_without_action():
    env, ale = played({"fires": False}, noop_max=5)
    found = set()
    for seed in range(40):
        env.reset(seed=seed)
        found.add(ale.frames)
    assert found == {1, 2, 3, 4, 5} and set(ale.played) == {NOOP}


def test_a_game_that_ends_in_the_frames_without_action_begins_anew():
    env, ale = played({"fires": False, "lives": 1, "life": 3}, noop_max=5)
    found = set()
    for seed in range(40):
        env.reset(seed=seed)
        assert not ale.game_over()
        found.add(ale.frames)
    assert found == {0, 1, 2}


def test_games_that_wait_for_fire_are_started():
    assert played({})[1].played == [FIRE] * 4 + [RIGHT] * 4
    assert played({"fires": False})[1].played == []


def test_an_episode_ends_with_a_life_and_the_game_goes_on():
    env, ale = played({"fires": False, "lives": 2, "life": 8})
    assert env.step(LEFT)[2:] == (False, False, {"lives": 2})
    assert env.step(LEFT)[2:] == (True, False, {"lives": 1, "goes_on": True})
    assert env.reset()[1] == {"lives": 1}
    assert ale.frames == 12, "one action without effect"
    end = env.step(DOWN)
    assert end[2:4] == (True, False)
    # Frames are worth 3 in two actions, nothing in the action between the lives, and -2 in one.
    assert end[4] == {"lives": 0, "episode": {"r": 16.0, "l": 3}}
    env.reset()
    assert ale.frames == 0, "a new game"


def test_no_life_is_lost_where_a_game_reports_none_between_two_lives(monkeypatch):
    env, ale = played({"fires": False})
    monkeypatch.setattr(ale, "game_over", lambda: False)
    monkeypatch.setattr(ale, "lives", lambda: 0)
    assert env.step(LEFT)[2:] == (False, False, {"lives": 0})


def test_a_length_counts_steps_and_not_the_actions_of_resets():
    env, ale = played({"lives": 2, "life": 20})
    for _ in range(2):  # games
        ends = [env.step(LEFT) for _ in range(3)]
        assert ends[-1][4] == {"lives": 1, "goes_on": True}
        env.reset()
        ends = [env.step(LEFT) for _ in range(2)]
        assert ends[-1][4]["episode"]["l"] == 5
        assert ale.frames == 40, "ten actions: five of the two resets, and five steps"
        env.reset()


def test_without_episode_life_an_episode_is_a_game():
    env, _ = played({"fires": False, "lives": 2, "life": 8}, episode_life=False)
    ends = [env.step(LEFT)[2:] for _ in range(4)]
    assert [end[0] for end in ends] == [False, False, False, True]
    assert ends[-1][2]["episode"] == {"r": 48.0, "l": 4}


def test_the_game_goes_on_after_a_lost_life_only_and_never_with_a_seed():
    env, ale = played({"fires": False, "lives": 3, "life": 8})
    env.step(LEFT)
    env.reset()
    assert ale.frames == 0, "in the middle of a life"
    env.step(LEFT), env.step(LEFT)
    env.reset(), env.reset()
    assert ale.frames == 0, "it had gone on already"
    env.step(LEFT), env.step(LEFT)
    env.reset(seed=3)
    assert ale.frames == 0


def test_a_game_that_is_truncated_as_a_life_is_lost_does_not_go_on():
    env, _ = played({"fires": False, "lives": 2, "life": 8, "limit": 8})
    env.step(LEFT)
    assert env.step(LEFT)[2:] == (False, True, {"lives": 1, "episode": {"r": 24.0, "l": 2}})


def test_a_game_that_ends_before_the_next_life_begins_anew():
    env, ale = played({"fires": False, "lives": 2, "life": 8, "limit": 10})
    env.step(LEFT), env.step(LEFT)
    env.reset()
    assert ale.played == [LEFT] * 8 + [NOOP] * 2 and ale.frames == 0


@pytest.mark.parametrize(("limit", "seen"), [(6, [[[0], [6]]]), (7, [[[7], [0]]])])
def test_the_limit_of_frames_truncates_and_its_last_frame_is_seen_alone(limit, seen):
    env, ale = played({"fires": False, "lives": 9, "limit": limit})
    env.step(LEFT)
    observation, _, terminated, truncated, info = env.step(LEFT)
    assert ale.frames == limit and (terminated, truncated) == (False, True)
    assert observation.tolist() == seen
    assert info["episode"] == {"r": 3.0 * limit, "l": 2}
    env.reset()
    assert env.step(LEFT)[2:4] == (False, False), "the next game"


def test_a_game_that_the_start_ends_begins_again():
    env, ale = played({"lives": 1, "life": 8})
    assert ale.played == [FIRE] * 4 + [RIGHT] * 4 and ale.frames == 0 and env.step(LEFT)[1] == 1.0


def test_stacked_frames_are_the_latest_four_and_the_latest_is_last():
    env, _ = played({"fires": False}, frame_stack=True)
    first, _ = env.reset()
    assert first.shape == (1, 2, 4) and not first.any() and env.stack_size == 4
    seen = [env.step(NOOP)[0] for _ in range(5)]
    assert seen[1].tolist() == [[[0, 0, 3, 7], [0, 0, 4, 8]]]
    assert seen[4].tolist() == [[[7, 11, 15, 19], [8, 12, 16, 20]]]
    assert not first.any(), "what was given stays as it was"


@pytest.mark.parametrize("frame_stack", [False, True])
def test_scaled_observations_are_0_to_1(frame_stack):
    env, _ = played({"fires": False}, scale=True, frame_stack=frame_stack)
    observation, *_ = env.step(NOOP)
    assert observation.dtype == np.float32 and env.observation_space.contains(observation)
    assert observation[0, :, -1].tolist() == pytest.approx([3 / 255, 4 / 255])


# ---- state ---------------------------------------------------------------------------------------


def games_put_back(settle, settings):
    """A game, and another one with its restored state; both are played on and compared."""
    game = {"lives": 3, "life": 14}
    (env, ale), (other, copy) = played(game, **settings), played(game, **settings)
    settle(env)
    other.reset(seed=9)
    restore(other, capture(env))
    assert copy.frames == ale.frames > 0 and np.array_equal(other._frames, env._frames)
    games = 0
    while games < 3:
        found, expected = other.step(LEFT), env.step(LEFT)
        assert np.array_equal(found[0], expected[0]) and found[1:] == expected[1:]
        games += "episode" in found[4]
        if found[2]:
            assert np.array_equal(other.reset()[0], env.reset()[0])
    return env


def play(env, steps):
    for action in ([LEFT, DOWN, NOOP] * steps)[:steps]:
        if env.step(action)[2]:
            env.reset()


@pytest.mark.parametrize("steps", [0, 2, 4, 50])
def test_a_game_put_back_is_played_again_and_goes_on_the_same(steps):
    games_put_back(lambda env: play(env, steps), {"noop_max": 9, "frame_stack": True})


def test_what_has_to_be_played_again_is_limited_by_seeds_of_later_games(monkeypatch):
    monkeypatch.setattr(deepmind, "MOST_MOVES", 20)
    env = games_put_back(lambda env: play(env, 200), {"noop_max": 9})
    assert len(env._moves) < 40 and env._seed != 1


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"moves": np.array([LEFT, 5], np.uint8)}, "not actions of Discrete"),
        ({"moves": np.array([LEFT], np.uint8)}, "lead to another screen"),
        ({"seed": -1}, "Seed must be"),
    ],
)
def test_a_damaged_game_is_refused(wrong, message):
    env, _ = played({"fires": False})
    env.step(LEFT), env.step(DOWN)
    with pytest.raises((Unsupported, gym.error.Error), match=message):
        env.set_state({**env.get_state(), **wrong})


# ---- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("env", "message"),
    [
        (lambda: gym.make("CartPole-v1"), "CartPoleEnv is not one. Leave it out"),
        (lambda: gym.wrappers.TimeLimit(StandInGame(), 5), "pass over TimeLimit"),
        (lambda: gym.wrappers.FlattenObservation(StandInGame()), "shows its RAM"),
    ],
)
def test_what_it_cannot_play_is_refused(env, message):
    with pytest.raises(PlanError, match=message):
        AtariGame(env())


def test_another_frameskip_of_the_environment_is_refused_not_ignored():
    gym.register(
        "RlkTestGame-v0", entry_point=lambda frameskip: StandInGame(), kwargs={"frameskip": 4}
    )
    AtariGame(gym.make("RlkTestGame-v0"))
    AtariGame(gym.make("RlkTestGame-v0", frameskip=1))
    with pytest.raises(PlanError, match=r"env.frameskip=2 .* --set atari.skip=2"):
        AtariGame(gym.make("RlkTestGame-v0", frameskip=2))
    gym.registry.pop("RlkTestGame-v0")
