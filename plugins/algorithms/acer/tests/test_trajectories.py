"""Where the observations of sequences stand, beside a list that is written one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rlk_acer.trajectories import RecurrentTrajectories, trajectories
from rlk_rollout.rollout import Rollout


def rollout(terminated: Any, truncated: Any, recurrent: bool = False) -> Rollout:
    """Environment n observes 100 n + t, and ends on 100 n + t + 0.5; N = 2 columns."""
    terminated, truncated = np.array(terminated, bool), np.array(truncated, bool)
    steps, n_envs = terminated.shape
    seen = (np.arange(steps + 1)[:, None] + 100.0 * np.arange(n_envs)).astype(np.float32)
    time, env = np.nonzero(terminated | truncated)
    extras = {"parameters": np.zeros((steps, n_envs, 2), np.float32)}
    if recurrent:
        starts = np.zeros((steps, n_envs), bool)
        starts[1:] = (terminated | truncated)[:-1]
        extras |= {"state": np.full((1, n_envs, 3), 7.0, np.float32), "episode_start": starts}
    return Rollout(
        observation=seen[:-1, :, None],
        action=np.arange(steps * n_envs).reshape(steps, n_envs) % 2,
        reward=np.ones((steps, n_envs), np.float32),
        terminated=terminated,
        truncated=truncated,
        next_observation=seen[-1, :, None],
        final_time=time,
        final_env=env,
        final_observation=seen[time, env, None] + np.float32(0.5),
        extras=extras,
    )


def one_by_one(given: Rollout) -> tuple[list[list[float]], list[list[bool]]]:
    """Of each environment the observations and whether an episode starts there."""
    finals = {
        (t, n): float(value[0])
        for t, n, value in zip(
            given.final_time.tolist(),
            given.final_env.tolist(),
            given.final_observation,
            strict=True,
        )
    }
    seen, starts = [], []
    for env in range(given.reward.shape[1]):
        row, start, ended = [], [], False
        for t in range(len(given.reward)):
            row.append(float(given.observation[t, env, 0]))
            start.append(ended)
            ended = bool(given.terminated[t, env] or given.truncated[t, env])
            if given.truncated[t, env] and not given.terminated[t, env]:
                row.append(finals[t, env])
                start.append(False)
        seen.append([*row, float(given.next_observation[env, 0])])
        starts.append([*start, ended])
    return seen, starts


NEVER = [[0, 0], [0, 0], [0, 0]]


@pytest.mark.parametrize(
    ("terminated", "truncated", "length"),
    [
        (NEVER, NEVER, 5),
        ([[0, 1], [0, 0], [1, 0]], NEVER, 5),
        (NEVER, [[0, 1], [0, 0], [0, 0]], 5),
        (NEVER, [[0, 0], [0, 0], [1, 1]], 5),
        (NEVER, [[1, 0], [1, 0], [1, 1]], 7),
        ([[1, 0], [0, 0], [0, 1]], [[1, 1], [1, 0], [0, 1]], 5),  # both flags: terminated
    ],
)
def test_what_truncated_episodes_ended_on_stands_behind_their_last_step(
    terminated, truncated, length
):
    given = rollout(terminated, truncated, recurrent=True)
    made = trajectories(given, gamma=0.5)
    assert isinstance(made, RecurrentTrajectories)
    rows = made.observation.view(-1, 2)
    assert len(rows) == length
    starts = made.episode_start
    for env, (seen, start) in enumerate(zip(*one_by_one(given), strict=True)):
        assert rows[: len(seen), env].tolist() == seen
        assert rows[len(seen) :, env].tolist() == [seen[-1]] * (length - len(seen))
        assert starts[: len(start), env].tolist() == start
        assert not starts[len(start) :, env].any()


def test_the_row_of_a_step_is_that_of_its_observation_and_the_next_what_it_led_to():
    given = rollout([[0, 1], [0, 0], [0, 0]], [[0, 0], [1, 0], [0, 1]])
    made = trajectories(given, gamma=0.5)
    seen = made.observation[:, 0]
    assert seen[made.row].tolist() == given.observation.reshape(-1).tolist()
    led_to = seen[made.row + 2].view(3, 2)
    assert led_to[:, 0].tolist() == [1.0, 1.5, 3.0]
    assert led_to[1:, 1].tolist() == [102.0, 102.5]  # the first is terminated: it has no value
    assert made.discount.tolist() == [[0.5, 0.0], [0.5, 0.5], [0.5, 0.5]]
    assert made.ended.tolist() == [[False, True], [True, False], [False, True]]
    assert made.action.tolist() == [0, 1, 0, 1, 0, 1]


def test_observations_that_are_dicts_are_laid_out_part_by_part():
    given = rollout(NEVER, [[0, 0], [1, 0], [0, 0]])
    parts = {
        name: {"a": value, "b": value.astype(np.int64) * 2}
        for name, value in vars(given).items()
        if "observation" in name
    }
    plain = trajectories(given, gamma=0.5).observation
    made = trajectories(Rollout(**{**vars(given), **parts}), gamma=0.5).observation
    assert made["a"].equal(plain) and made["b"].equal(plain.long() * 2)
