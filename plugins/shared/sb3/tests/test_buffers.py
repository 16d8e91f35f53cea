"""`ReplayBuffer` of Stable-Baselines3: ends, normalised batches, and what is added or removed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces

from rlk_sb3.common.buffers import ReplayBuffer

CUT = {"TimeLimit.truncated": True}


def buffer(**keywords: Any) -> ReplayBuffer:
    """A buffer of three steps of two environments."""
    space = spaces.Box(-9, 9, (1,))
    return ReplayBuffer(7, space, spaces.Discrete(3), "cpu", n_envs=2, **keywords)


def step(number: float, done: Any = (False, False), infos: Any = ({}, {})) -> tuple[Any, ...]:
    """A step from `number` and `number` + 0.5 to the next ones, with a reward of as much."""
    obs = np.array([[number], [number + 0.5]])
    return obs, obs + 1, np.array([0, 2]), obs[:, 0], np.array(done), list(infos)


@pytest.mark.parametrize(("handles", "ends"), [(True, {0.0: 1, 0.5: 0}), (False, {0.0: 1, 0.5: 1})])
def test_a_truncated_episode_is_not_done_unless_told_otherwise(handles: bool, ends: Any) -> None:
    kept = buffer(handle_timeout_termination=handles)
    kept.add(*step(0, done=(True, True), infos=({}, CUT)))
    batch = kept.sample(60)
    found = dict(zip(batch.rewards[:, 0].tolist(), batch.dones[:, 0].tolist(), strict=True))
    assert found == ends, "of both environments"


class Scales:
    """Stands for a `VecNormalize`: observations are doubled, and rewards tripled, in float64."""

    def normalize_obs(self, obs: Any) -> Any:
        return 2 * obs

    def normalize_reward(self, reward: Any) -> Any:
        return 3.0 * reward.astype(np.float64)


def test_batches_are_normalised_and_what_is_kept_is_not() -> None:
    kept = buffer()
    kept.add(*step(4))
    env: Any = Scales()
    batch = kept.sample(1, env)
    at = batch.observations.item() / 2
    assert batch.next_observations.item() == 2 * (at + 1) and batch.rewards.item() == 3 * at
    assert batch.rewards.dtype == torch.float32
    assert kept.rewards[0].tolist() == [4, 4.5]


def test_a_full_buffer_that_is_emptied_begins_again() -> None:
    kept = buffer()
    for number in range(4):
        kept.add(*step(number))
    assert (kept.size(), kept.pos, kept.full) == (3, 1, True)
    assert kept.rewards[:, 0].tolist() == [3, 1, 2]
    kept.reset()
    assert (kept.size(), kept.full) == (0, False)
    kept.add(*step(8))
    assert kept.size() == 1 and set(kept.sample(40).rewards[:, 0].tolist()) == {8, 8.5}


def test_several_steps_are_added_by_place_and_by_keyword() -> None:
    kept, steps = buffer(), [step(1), step(2)]
    obs, next_obs, action, reward, done, infos = zip(*steps, strict=True)
    kept.extend(obs, next_obs, action, reward, infos=infos, done=done)
    assert kept.rewards[:2].tolist() == [[1, 1.5], [2, 2.5]]
    assert kept.next_observations[:2, :, 0].tolist() == [[2, 2.5], [3, 3.5]]


def test_tensors_are_copies_unless_told_otherwise() -> None:
    kept, numbers = buffer(), np.zeros(2)
    copy, view = kept.to_torch(numbers), kept.to_torch(numbers, copy=False)
    numbers[:] = 1
    assert (copy.tolist(), view.tolist()) == ([0, 0], [1, 1])
