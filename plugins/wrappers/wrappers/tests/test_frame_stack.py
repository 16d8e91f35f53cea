"""`frame-stack`: the frames of an observation at an episode's start, in its middle, at its end."""

from __future__ import annotations

from collections import deque
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

import rlk
from rlk.errors import PlanError
from rlk_testing.environments import Walk
from rlk_testing.stand_ins import StandInVecEnv
from rlk_wrappers.config_observations import FrameStackConfig
from rlk_wrappers.frame_stack import FrameStack
from rlk_wrappers.frames import layout_of

ACTIONS = np.zeros((2, 2), np.float32)


def stacked(env: Any, **settings: Any) -> FrameStack:
    return FrameStack(env, FrameStackConfig(**{"n_stack": 3, **settings}))


def test_frames_by_hand(counting: Any) -> None:
    env = stacked(counting())
    shown, results = [env.reset()[0][0].tolist()], []
    for _ in range(4):
        results.append(env.step(ACTIONS))
        shown.append(results[-1][0][0].tolist())
    # An episode has three steps; then the vector returns the first frame of the next one.
    assert shown == [[0, 0, 10], [0, 10, 11], [10, 11, 12], [0, 0, 20], [0, 20, 21]]
    assert results[2][4]["final_obs"][0].tolist() == [11, 12, 13]
    assert "final_obs" not in results[3][4]


def test_with_reset_an_episode_begins_with_its_first_frame_only(counting: Any) -> None:
    env = stacked(counting(), padding="reset")
    assert env.reset()[0][0].tolist() == [10, 10, 10]
    last = [env.step(ACTIONS) for _ in range(3)][-1]
    assert last[0][0].tolist() == [20, 20, 20]
    assert last[4]["final_obs"][0].tolist() == [11, 12, 13]


@pytest.mark.parametrize("n_stack", [0, 1_001, 30_000_000])
def test_a_number_of_frames_that_a_forged_model_could_fill_the_memory_with_is_refused(
    n_stack: int,
) -> None:
    FrameStackConfig(n_stack=1_000)
    with pytest.raises(ValueError, match="n_stack"):
        FrameStackConfig(n_stack=n_stack)


def test_a_reset_of_one_environment_leaves_the_other_alone(counting: Any) -> None:
    env = stacked(counting())
    env.reset()
    env.step(ACTIONS)
    observation, _ = env.reset(options={"reset_mask": np.array([False, True])})
    assert observation.tolist() == [[0, 10, 11], [0, 0, 20]]


class Twin:
    """The frames of one environment in a deque, as a simple reference."""

    def __init__(self, k: int, axis: int) -> None:
        self.k, self.axis = k, axis

    def begin(self, frame: Any) -> Any:
        self.frames = deque([np.zeros_like(frame)] * (self.k - 1) + [frame], maxlen=self.k)
        return self.stack()

    def follow(self, frame: Any) -> Any:
        self.frames.append(frame)
        return self.stack()

    def stack(self) -> Any:
        return np.concatenate(self.frames, axis=self.axis)


@pytest.mark.parametrize(("order", "axis"), [(None, 2), ("last", 2), ("first", 0)])
def test_every_stack_of_images_is_that_of_a_deque(order: Any, axis: int) -> None:
    walks = [lambda: Walk(observation="image")] * 2
    plain, env = StandInVecEnv(walks), stacked(StandInVecEnv(walks), channels_order=order)
    twins = [Twin(3, axis) for _ in walks]
    raw, found = plain.reset(seed=[1, 2])[0], env.reset(seed=[1, 2])[0]
    assert np.array_equal(found, [twin.begin(o) for twin, o in zip(twins, raw, strict=True)])
    ends = 0
    for t in range(40):
        raw, _, terminated, truncated, infos = plain.step(np.full(2, t % 3))
        found, *_, found_infos = env.step(np.full(2, t % 3))
        for i, twin in enumerate(twins):
            if terminated[i] or truncated[i]:
                ends += 1
                final = twin.follow(infos["final_obs"][i])
                assert np.array_equal(found_infos["final_obs"][i], final)
                expected = twin.begin(raw[i])
            else:
                expected = twin.follow(raw[i])
            assert np.array_equal(found[i], expected), f"environment {i} at step {t}"
        assert found.dtype == np.uint8 and env.observation_space.contains(found)
    assert ends > 5


@pytest.mark.parametrize(
    ("shape", "order", "joined"),
    [
        ((4,), None, (12,)),
        ((84, 84), None, (3, 84, 84)),
        ((84, 84), "last", (84, 84, 3)),
        ((84, 84, 1), None, (84, 84, 3)),
        ((3, 84, 84), None, (9, 84, 84)),
        ((6, 6, 8), None, (6, 6, 24)),
        ((84, 84, 3), "first", (252, 84, 3)),
        ((2, 3, 4, 5), None, (2, 3, 4, 15)),
    ],
)
def test_where_frames_stand_in_a_stack(shape: Any, order: Any, joined: Any) -> None:
    layout = layout_of(shape, 3, order)
    assert layout.joined == joined
    space = spaces.Box(1.0, 2.0, shape, np.float32)
    assert layout.space(space, with_zero=False) == spaces.Box(1.0, 2.0, joined, np.float32)
    # The zeros before an episode's first frame are observations too.
    assert layout.space(space, with_zero=True) == spaces.Box(0.0, 2.0, joined, np.float32)


def test_the_bounds_of_every_frame_are_those_of_the_frame() -> None:
    space = layout_of((2,), 3, None).space(spaces.Box(np.float32([-1, 2]), 4.0), with_zero=False)
    assert space.low.tolist() == [-1, 2] * 3


def test_a_state_stays_as_it_is_while_its_environments_go_on(counting: Any) -> None:
    env = stacked(counting())
    env.reset()
    part = env.get_state()[0]["frame-stack"]
    for _ in range(2):
        env.step(ACTIONS)
    assert [stack.tolist() for stack in part.values()] == [[0, 0, 10]]


def test_images_of_two_axes_are_stacked_as_gymnasium_does(counting: Any) -> None:
    env = stacked(counting(shape=(5, 6), dtype=np.uint8))
    assert env.reset()[0][0, :, 0, 0].tolist() == [0, 0, 10]


def test_goals_are_not_stacked_unless_they_are_named(counting: Any) -> None:
    env = stacked(counting(key="observation"))
    observation, _ = env.reset()
    assert observation["observation"].shape == (2, 3) and observation["desired_goal"].shape == (
        2,
        1,
    )
    env = stacked(counting(key="observation"), keys=["desired_goal"])
    assert env.single_observation_space["desired_goal"].shape == (3,)
    assert env.single_observation_space["observation"].shape == (1,)


def test_images_of_a_dict_are_stacked_along_their_channels(counting: Any) -> None:
    env = stacked(counting(key="screen", shape=(8, 6, 3), dtype=np.uint8))
    env.reset()
    screen = env.step(ACTIONS)[0]["screen"]
    assert screen.shape == (2, 8, 6, 9)
    assert screen[0, 0, 0].tolist() == [0, 0, 0, 10, 10, 10, 11, 11, 11]
    for _ in range(2):
        *_, infos = env.step(ACTIONS)
    assert infos["final_obs"][0]["screen"][0, 0].tolist() == [11] * 3 + [12] * 3 + [13] * 3


@pytest.mark.parametrize(
    ("keywords", "settings", "message"),
    [
        ({}, {"keys": ["a"]}, r"keys=\['a'\] names keys of a Dict, but observations are Box"),
        ({"key": "a"}, {"keys": ["b"]}, r"'b' is not one of \['a', 'desired_goal'\]"),
        ({}, {"channels_order": "first"}, r"channels_order=first is for images, .*Leave it out"),
        ({"key": "a"}, {"channels_order": "last"}, "channels_order=last is for images"),
        ({"key": "achieved_goal"}, {}, "stacks a Box, but observations are Dict"),
    ],
)
def test_what_cannot_be_stacked_is_refused(
    counting: Any, keywords: Any, settings: Any, message: str
) -> None:
    with pytest.raises(PlanError, match=message):
        stacked(counting(**keywords), **settings)


class Screen(gym.Env[Any, Any]):
    """A small screen of random pixels; an episode has ten steps."""

    observation_space = spaces.Box(0, 255, (36, 36, 1), np.uint8)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.steps = 0
        return self.shown(), {}

    def step(self, action: Any) -> Any:
        self.steps += 1
        return self.shown(), 1.0, False, self.steps >= 10, {}

    def shown(self) -> Any:
        return self.np_random.integers(0, 256, (36, 36, 1), np.uint8)


@pytest.mark.parametrize("plugins", [["frame-stack"], ["transpose-image", "frame-stack"]])
def test_a_replay_keeps_every_frame_once_and_gives_the_stacks_back(plugins: list[str]) -> None:
    sizes = {"buffer_size": 200, "learning_starts": 1000, "policy": "cnn"}
    with rlk.make("dqn", env=Screen, plugins=plugins, n_threads=1, seed=1, **sizes) as agent:
        seen = []
        step = agent.run.env.step

        def watched(actions: Any) -> Any:
            result = step(actions)
            seen.append(result[0][0].tobytes())
            return result

        agent.run.env.step = watched
        agent.learn(60)
        storage = agent.run.storage
        assert agent.run.env.stack_size == 4
        rows = storage.sample(50).observation.numpy()
        assert sum(row.tobytes() in seen for row in rows) > 40  # all but those of the reset
        kept = storage.state_dict()["frames"]
        (pool,) = kept.values()
        # 60 steps; each of 6 episodes adds a first and a last frame, and one of zeros.
        assert len(pool["frames"]) <= 60 + 7 * 2 and pool["frames"].shape[1:].count(36) == 2
