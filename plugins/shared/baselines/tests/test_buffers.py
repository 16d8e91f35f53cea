"""Replay buffers of a program's own, and the replay of a model with the same methods."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rlk_sb3
from rlk_baselines import DQN, HER, SAC
from rlk_baselines.common.bit_flipping_env import BitFlippingEnv
from rlk_baselines.common.buffers import PrioritizedReplayBuffer, ReplayBuffer


def columns(n: int) -> tuple[Any, ...]:
    """n transitions from place t to place t + 1, the last of which ends the episode."""
    places = np.arange(float(n))[:, None]
    return places, np.zeros((n, 1)), places[:, 0], places + 1, np.arange(n) == n - 1


def test_a_buffer_overwrites_its_oldest_transitions() -> None:
    buffer = ReplayBuffer(3)
    buffer.extend(*columns(5))
    assert buffer.is_full()
    assert [step[2] for step in buffer.storage] == [3.0, 4.0, 2.0]


def test_several_transitions_are_added_by_the_method_of_the_class() -> None:
    class Doubles(ReplayBuffer):
        def add(self, obs_t: Any, action: Any, reward: float, obs_tp1: Any, done: bool) -> None:
            super().add(obs_t, action, 2 * reward, obs_tp1, done)

    buffer = Doubles(3)
    buffer.extend(*columns(3))
    assert [step[2] for step in buffer.storage] == [0.0, 2.0, 4.0]


def test_ends_of_episodes_are_sampled_as_they_were_added() -> None:
    buffer = ReplayBuffer(4)
    buffer.extend(*columns(4))
    _, _, reward, following, done = buffer.sample(64)
    assert done.dtype == bool
    assert np.array_equal(done, reward == 3.0)
    following[done] = 0.0  # a mask, as programs write it


def test_a_buffer_may_be_sampled_once_it_has_as_many_as_are_wanted() -> None:
    buffer = ReplayBuffer(4)
    buffer.extend(*columns(2))
    assert [buffer.can_sample(n) for n in (1, 2, 3)] == [True, True, False]


class Scales:
    """Stands for a `VecNormalize`: observations are doubled, and rewards tripled."""

    def normalize_obs(self, obs: Any) -> Any:
        return 2 * obs

    def normalize_reward(self, reward: Any) -> Any:
        return 3 * reward


@pytest.mark.parametrize("buffer", [ReplayBuffer(4), PrioritizedReplayBuffer(4, alpha=0.5)])
def test_samples_are_normalised_and_what_is_kept_is_not(buffer: ReplayBuffer) -> None:
    buffer.add(np.array([1.0]), np.array([4.0]), 5.0, np.array([6.0]), False)
    columns = buffer.sample(1, env=Scales())[:4]
    assert [column.ravel()[0] for column in columns] == [2, 4, 15, 12]
    assert buffer.storage[0][2] == 5.0


@pytest.mark.parametrize("kind", [DQN, rlk_sb3.DQN])
def test_samples_of_a_models_replay_are_normalised_if_asked(kind: Any) -> None:
    model = kind("MlpPolicy", "CartPole-v1", batch_size=1)
    model.replay_buffer_add(np.ones(4), 1, 5.0, 4 * np.ones(4), False, {})
    for env, expected in ((None, [1, 1, 5, 4]), (Scales(), [2, 1, 15, 8])):
        batch = model.replay_buffer.sample(1, env=env)
        if kind is rlk_sb3.DQN:
            batch = (batch.observations, batch.actions, batch.rewards, batch.next_observations)
        assert [float(np.ravel(column)[0]) for column in batch[:4]] == expected


def test_priorities_decide_how_often_a_transition_is_sampled_and_how_much_it_weighs() -> None:
    np.random.seed(0)
    buffer = PrioritizedReplayBuffer(4, alpha=0.5)
    buffer.extend(*columns(3))
    *_, weights, indices = buffer.sample(9)
    assert np.bincount(indices).tolist() == [3, 3, 3] and weights.tolist() == [1.0] * 9
    buffer.update_priorities([0, 1, 2], [1.0, 4.0, 9.0])  # to the power of 0.5: 1, 2, 3
    *_, weights, indices = buffer.sample(6000, beta=1.0)
    assert np.bincount(indices) / 1000 == pytest.approx([1.0, 2.0, 3.0], abs=0.02)
    assert set(buffer.sample(60)[-2]) == {1.0}, "without beta, no bias is corrected"
    # (p_min / p) ** beta: a weight of 1 for the least likely, which is the highest.
    assert weights == pytest.approx(np.array([1.0, 1 / 2, 1 / 3])[indices])
    buffer.add(*(column[0] for column in columns(1)))
    *_, indices = buffer.sample(9000, beta=1.0)
    assert np.bincount(indices)[3] / 1000 == pytest.approx(3.0, abs=0.02), "the highest so far"
    buffer.update_priorities([0, 1, 2, 3], [4.0] * 4)
    buffer.add(*(column[0] for column in columns(1)))  # over the first one
    *_, indices = buffer.sample(9000)
    assert np.bincount(indices)[0] / 1000 == pytest.approx(3.0, abs=0.02), "it has been 9"


@pytest.mark.parametrize(
    ("indices", "priorities"), [([0, 1], [1.0]), ([3], [1.0]), ([-1], [1.0]), ([0], [0.0])]
)
def test_priorities_of_what_is_not_there_are_refused(indices: Any, priorities: Any) -> None:
    buffer = PrioritizedReplayBuffer(4, alpha=0.5)
    buffer.extend(*columns(3))
    with pytest.raises(AssertionError):
        buffer.update_priorities(indices, priorities)


def test_the_replay_of_a_model_is_extended_and_read_as_a_buffer_is() -> None:
    model = DQN("MlpPolicy", "CartPole-v1", buffer_size=3, batch_size=2)
    assert model.replay_buffer.storage == []
    obs = np.arange(16.0).reshape(4, 4)
    model.replay_buffer.extend(
        obs_t=obs, action=[0, 1, 0, 1], reward=[0.0, 1.0, 2.0, 3.0], obs_tp1=obs + 1, done=[0] * 4
    )
    found = model.replay_buffer.storage
    assert [step[1:3] for step in found] == [(1, 3.0), (1, 1.0), (0, 2.0)]
    assert all(np.array_equal(step[3], step[0] + 1) and step[4] == 0.0 for step in found)


def test_actions_in_the_replay_of_a_model_are_scaled_and_ends_are_known() -> None:
    model = SAC("MlpPolicy", "Pendulum-v1")
    model.replay_buffer.extend(np.zeros((2, 3)), [[0.5], [-1.0]], [0, 0], np.ones((2, 3)), [0, 1])
    assert [(step[1].tolist(), step[4]) for step in model.replay_buffer.storage] == [
        ([0.5], 0.0),
        ([-1.0], 1.0),
    ]


def test_the_transitions_of_her_have_the_goals_of_the_environment() -> None:
    model = HER("MlpPolicy", BitFlippingEnv(4, max_steps=4), DQN, seed=0).learn(20)
    found = model.replay_buffer.storage
    assert len(found) == 20
    assert all((step[0]["desired_goal"] == 1).all() for step in found), "all bits, for each step"


@pytest.mark.parametrize("gamma", [0.0, 0.9])
def test_a_transition_is_done_where_its_episode_terminated_whatever_gamma_is(gamma: float) -> None:
    model = DQN("MlpPolicy", "CartPole-v1", gamma=gamma)
    ends = [0.0, 1.0, 0.0]
    model.replay_buffer.extend(np.zeros((3, 4)), [0, 1, 1], [0, 1, 2], np.ones((3, 4)), ends)
    assert [step[4] for step in model.replay_buffer.storage] == ends
    _, _, reward, _, done = model.replay_buffer.sample(50)
    assert np.array_equal(done, reward == 1) and set(reward) == {0, 1, 2}


def test_a_replay_of_a_model_is_sampled_with_its_own_beta() -> None:
    model = DQN("MlpPolicy", "CartPole-v1", prioritized_replay=True)
    model.replay_buffer_add(np.zeros(4), 0, 1.0, np.ones(4), False, {})
    for call in ({"beta": 0.4}, {"env": 0.4}):
        with pytest.raises(ValueError, match=r"DQN\.replay_buffer\.sample takes no beta"):
            model.replay_buffer.sample(1, **call)
    assert model.agent.run.storage.sample(1).weight.tolist() == [1.0]
