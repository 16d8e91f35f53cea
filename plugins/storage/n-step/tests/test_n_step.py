"""N-step returns by hand, and against the brute-force twin."""

import gymnasium as gym
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import rlk
from rlk.errors import PlanError
from rlk.records import Schema, Step
from rlk_n_step.config import NStepConfig
from rlk_n_step.storage import NStep, n_step_return, steps_that_count
from rlk_prioritized_replay.config import PrioritizedReplayConfig
from rlk_prioritized_replay.storage import PrioritizedReplay
from rlk_replay.config import ReplayConfig
from rlk_replay.storage import Replay
from rlk_testing.contracts.storage.brute_force_replay import BruteForceReplay
from rlk_testing.contracts.storage.trajectory import Trajectory, schema, schema_for

BOX = gym.spaces.Box(-1e6, 1e6, (1,), np.float32)


def opened(opened_with: Schema, n_steps: int, buffer_size: int = 100, *others):
    base = Replay(ReplayConfig(buffer_size=buffer_size))
    base.open(opened_with)
    for decorator in (*others, NStep(NStepConfig(n_steps=n_steps))):
        decorator.open(base, opened_with)
        base.decorate(decorator)
    return base


def played(rewards, ends=None, n_steps=3, gamma=0.5, buffer_size=100):
    """One environment that gave these rewards; observation t, then t + 1, or t + 0.5 at an end."""
    schema = schema_for(BOX, gym.spaces.Discrete(2), gamma=gamma)
    storage = opened(schema, n_steps, buffer_size)
    for t, reward in enumerate(rewards):
        end = (ends or {}).get(t, "")
        storage.add(
            Step(
                np.full((1, 1), t, np.float32),
                np.zeros(1, np.int64),
                np.array([reward], np.float32),
                np.array([end == "terminated"]),
                np.array([end == "truncated"]),
                np.full((1, 1), t + 1, np.float32),
                {0: np.array([t + 0.5], np.float32)} if end else {},
                {},
            )
        )
    return storage


def batch_of(storage, slots):
    index = np.array(slots)
    return storage._owner["fold"].fold(storage._owner["window"].window(index, 1))


def test_three_rewards_are_summed_and_the_value_three_steps_on_counts():
    batch = batch_of(played([1.0, 2.0, 4.0, 8.0, 16.0]), [0, 1])
    assert batch.reward.tolist() == [1 + 0.5 * 2 + 0.25 * 4, 2 + 0.5 * 4 + 0.25 * 8]
    assert batch.discount.tolist() == [0.125, 0.125]
    assert batch.observation[:, 0].tolist() == [0.0, 1.0]
    assert batch.next_observation[:, 0].tolist() == [3.0, 4.0]


def test_a_return_stops_where_the_episode_terminated_and_nothing_follows():
    batch = batch_of(played([1.0, 2.0, 4.0, 8.0], {1: "terminated"}), [0, 1, 2])
    assert batch.reward.tolist() == [2.0, 2.0, 4.0 + 0.5 * 8.0]
    assert batch.discount.tolist() == [0.0, 0.0, 0.25]
    assert batch.next_observation[:, 0].tolist() == [1.5, 1.5, 4.0]


def test_at_a_truncation_the_value_of_the_final_observation_stands_for_the_rest():
    batch = batch_of(played([1.0, 2.0, 4.0], {1: "truncated"}), [0, 1])
    assert batch.reward.tolist() == [2.0, 2.0]
    assert batch.discount.tolist() == [0.25, 0.5]
    assert batch.next_observation[:, 0].tolist() == [1.5, 1.5]


def test_the_newest_steps_have_shorter_returns():
    batch = batch_of(played([1.0, 2.0]), [0, 1])
    assert batch.reward.tolist() == [2.0, 2.0]
    assert batch.discount.tolist() == [0.25, 0.5]
    assert batch.next_observation[:, 0].tolist() == [2.0, 2.0]


def test_a_return_does_not_run_on_into_the_oldest_steps():
    # Four slots hold steps 2 to 5; the newest, 5, is in slot 1, before the oldest, 2, in slot 2.
    batch = batch_of(played([1.0] * 6, buffer_size=4), [0, 1, 2])
    assert batch.reward.tolist() == [1.5, 1.0, 1.75]
    assert batch.next_observation[:, 0].tolist() == [6.0, 6.0, 5.0]


def test_one_step_is_what_the_replay_does_by_itself():
    ends = {2: "terminated", 5: "truncated"}
    one = played(range(8), ends, n_steps=1)
    plain = Replay(ReplayConfig(buffer_size=100))
    plain.open(one.schema)
    plain.load_state_dict({**one.state_dict(), "decorators": {}})
    first, second = batch_of(one, range(8)), plain.fold(plain.window(np.arange(8), 1))
    for name in ("observation", "reward", "discount", "next_observation", "weight"):
        assert torch.equal(getattr(first, name), getattr(second, name)), name


def test_a_step_that_terminates_within_a_window_ends_the_return():
    terminated = np.array([[False, True, False], [True, False, False], [False, True, False]])
    assert steps_that_count(terminated, np.array([3, 3, 2])).tolist() == [2, 1, 2]


def test_rewards_behind_the_return_do_not_count_whatever_they_are():
    reward = np.array([[1.0, 1.0], [2.0, np.nan], [np.inf, np.nan]], np.float32)
    powers = np.array([1.0, 0.5, 0.25, 0.125], np.float32)
    assert n_step_return(reward, np.array([2, 1]), powers).tolist() == [2.0, 1.0]


@pytest.mark.parametrize(("wrong", "error"), [(0, ValueError), (-1, ValueError), (1.5, TypeError)])
def test_anything_but_one_step_or_more_is_refused(wrong, error):
    with pytest.raises(error, match="n_steps"):
        NStepConfig(n_steps=wrong)


def test_a_return_that_looks_further_than_the_replay_remembers_is_refused_while_planning():
    def planned(n_steps):
        plugins = [f"n-step:n_steps={n_steps}"]
        sizes = {"n_envs": 3, "buffer_size": 19, "batch_size": 4}
        return rlk.make("dqn", env="CartPole-v1", plugins=plugins, preset="none", **sizes)

    said = "keeps 6 steps of each environment. Set n-step.n_steps to 6 or less, or buffer_size to"
    with pytest.raises(PlanError, match=said):
        planned(7)
    planned(6).close()


@pytest.mark.parametrize("prioritized", [False, True])
@pytest.mark.parametrize("n_envs", [1, 4])
@settings(max_examples=15, deadline=None, derandomize=True)
@given(
    n_steps=st.integers(1, 6),
    steps=st.lists(st.integers(0, 12), min_size=1, max_size=5),
    ends=st.sampled_from([0.0, 0.1, 0.5]),
    rows=st.integers(1, 12),
    seed=st.integers(0, 99),
)
def test_every_return_is_that_of_the_twin(prioritized, n_envs, n_steps, steps, ends, rows, seed):
    trajectory = Trajectory(BOX, gym.spaces.Discrete(4), n_envs=n_envs, seed=seed, ends=ends)
    others = [PrioritizedReplay(PrioritizedReplayConfig())] if prioritized else []
    storage = opened(schema(trajectory, gamma=0.9, seed=seed), n_steps, rows * n_envs, *others)
    twin = BruteForceReplay(n_envs, rows, float(np.float32(0.9)), n_steps=n_steps)
    for count in steps:
        for step in trajectory.steps(count):
            storage.add(step)
            twin.add(step)
        if count:
            twin.check(storage.sample(20))
            twin.check(batch_of(storage, range(len(storage))))
        storage.interrupt()
        twin.interrupt()
