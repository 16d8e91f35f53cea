"""`VecFrameStack(VecNormalize(env))`: every frame keeps the normalisation of its step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

import rlk_sb3
from rlk_baselines import DQN
from rlk_baselines.common.vec_env import DummyVecEnv, VecEnvWrapper, VecFrameStack, VecNormalize
from rlk_sb3.common.vec_env import VecFrameStack as VecFrameStackOf3

STACKS = pytest.mark.parametrize("stack", [VecFrameStack, VecFrameStackOf3])


class Recorded(VecEnvWrapper):
    """Records the observations that it returns, and the last ones of episodes."""

    def reset(self) -> Any:
        self.frames, self.ends = [self.venv.reset()], {}
        return self.frames[0]

    def step_wait(self) -> Any:
        found = self.venv.step_wait()
        if found[2][0]:
            self.ends[len(self.frames)] = np.array(found[3][0]["terminal_observation"])
        self.frames.append(found[0])
        return found


@STACKS
def test_frames_are_those_of_the_normalisation_and_zeros_before_an_episode(stack, counting) -> None:
    normalize = VecNormalize(DummyVecEnv([lambda: counting(3)]))
    recorded = Recorded(normalize)
    env = stack(recorded, 3)
    env.reset()
    history = [np.zeros(2), np.zeros(2), recorded.frames[0][0]]
    for step in range(1, 12):
        observation, _, dones, infos = env.step(np.array([0]))
        frame = recorded.frames[step][0]
        if dones[0]:
            ended = np.concatenate([*history[1:], recorded.ends[step]])
            assert np.array_equal(infos[0]["terminal_observation"], ended)
            history = [np.zeros(2), np.zeros(2), frame]
        else:
            history = [*history[1:], frame]
        assert np.array_equal(observation[0], np.concatenate(history))
    # The environment returns single frames; the normalisation does not see the stack.
    assert env.get_original_obs().shape == (1, 2)
    assert len(recorded.ends) == 3
    # An older frame was normalised by the statistics of its step, not by the current ones.
    raw = np.array([[3.0, 7.0]])
    assert not np.allclose(recorded.ends[3], normalize.normalize_obs(raw)[0])


@STACKS
def test_the_bounds_of_a_stack_are_those_in_files_of_stable_baselines(stack, counting) -> None:
    class Bounded(counting):
        def __init__(self) -> None:
            super().__init__()
            bounds = np.array([9.0, 7.0], np.float32)
            self.observation_space = spaces.Box(-bounds, 2 * bounds)

    space = stack(DummyVecEnv([Bounded]), 2).observation_space
    assert space.low.tolist() == [-9, -9, -7, -7] and space.high.tolist() == [18, 18, 14, 14]


@STACKS
def test_in_the_other_order_all_frames_have_the_statistics_of_now(stack, counting) -> None:
    env = VecNormalize(stack(DummyVecEnv([lambda: counting(50)]), 2))
    env.reset()
    for _ in range(9):
        observation, *_ = env.step(np.array([0]))
    stacked = np.array([[8.0, 7.0, 9.0, 7.0]])
    assert np.array_equal(env.get_original_obs(), stacked)
    assert np.array_equal(observation, env.normalize_obs(stacked))


@pytest.mark.parametrize(("kind", "stack"), [(DQN, VecFrameStack), (rlk_sb3.DQN, VecFrameStackOf3)])
def test_a_replay_keeps_what_the_stack_gave(kind: Any, stack: Any, counting: Any) -> None:
    env = Recorded(stack(VecNormalize(DummyVecEnv([lambda: counting(3)])), 2))
    model = kind("MlpPolicy", env, learning_starts=8, batch_size=4, buffer_size=64, seed=0)
    model.learn(20)
    kept = {tuple(one) for one in model.replay_buffer.sample(300)[0].tolist()}
    assert len(kept) > 10 and kept <= {tuple(one[0].tolist()) for one in env.frames}
