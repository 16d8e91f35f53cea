"""A program adds transitions to the replay of a model."""

from __future__ import annotations

from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from rlk.records import Step
from rlk_baselines import DDPG, DQN, HER, SAC, TD3
from rlk_baselines.common import make_vec_env
from rlk_baselines.common.bit_flipping_env import BitFlippingEnv
from rlk_baselines.common.math_util import scale_action
from rlk_baselines.common.vec_env import VecNormalize
from rlk_baselines.her import HERGoalEnvWrapper
from rlk_baselines.replays.transitions import add_transition


class Taking(gymnasium.Env):
    """Takes the actions of a space."""

    def __init__(self, action_space: spaces.Space) -> None:
        self.observation_space = spaces.Box(-1, 1, (2,), np.float32)
        self.action_space = action_space

    def reset(self, *, seed=None, options=None):
        return np.zeros(2, np.float32), {}

    def step(self, action):
        return np.zeros(2, np.float32), 0.0, False, True, {}


def add(model, action) -> None:
    model.replay_buffer_add(np.zeros(2), action, 0.0, np.zeros(2), False, {})


@pytest.mark.parametrize("kind", [DDPG, SAC, TD3])
def test_actions_of_a_box_are_those_that_the_replay_holds(kind) -> None:
    """As in Stable Baselines, sampled actions, and those in a callback, can be added unchanged."""
    model = kind("MlpPolicy", Taking(spaces.Box(*np.array([[0, -4], [10, 0]], np.float32))))
    action, _ = model.predict(np.zeros(2))
    add(model, scale_action(model.action_space, action))
    stored = model.replay_buffer.sample(1)[1][0]
    assert np.allclose(stored, action / [5, 2] + [-1, 1], atol=1e-6)
    add(model, stored)
    assert np.array_equal(model.replay_buffer.sample(8)[1], np.tile(stored, (8, 1)))
    with pytest.raises(ValueError, match=r"from -1 to 1.*scale_action\(model\.action_space"):
        add(model, np.array([10.0, 0.0]))


def test_actions_of_a_discrete_space_are_those_of_the_environment() -> None:
    model = DQN("MlpPolicy", Taking(spaces.Discrete(3, start=5)))
    action, _ = model.predict(np.zeros(2))
    add(model, action)
    assert set(model.replay_buffer.sample(8)[1].tolist()) == {int(action)}
    with pytest.raises(ValueError, match=r"of Discrete\(3, start=5\)\. Got 0"):
        add(model, 0)


def test_hindsight_takes_rows_and_dicts() -> None:
    env = HERGoalEnvWrapper(BitFlippingEnv(4, continuous=True, max_steps=4))
    model = HER("MlpPolicy", env, SAC)
    row = env.reset()
    for obs in (row, env.convert_obs_to_dict(row)):
        model.replay_buffer_add(obs, np.zeros(4), 0.0, obs, True, {})
    assert len(model.replay_buffer) == 2
    seen = model.replay_buffer.sample(16)[0]
    for key, part in env.convert_obs_to_dict(row).items():
        assert key == "desired_goal" or np.array_equal(seen[key], np.tile(part, (16, 1)))


def test_observations_and_rewards_that_are_normalised_are_added_as_they_were_before() -> None:
    model = SAC("MlpPolicy", VecNormalize(make_vec_env("Pendulum-v1")))
    model.replay_buffer_add(np.ones(3), np.zeros(1), 3.0, np.full(3, 2.0), False, {})
    obs, _, reward, following, _ = model.replay_buffer.sample(2)
    assert (obs == 1).all() and (following == 2).all() and reward.tolist() == [3.0, 3.0]


def test_transitions_can_be_added_by_hand() -> None:
    model = SAC("MlpPolicy", "Pendulum-v1")
    model.replay_buffer_add(np.zeros(3), np.zeros(1), 1.0, np.ones(3), False, {})
    model.replay_buffer_add(np.ones(3), np.zeros(1), 1.0, np.ones(3), True, {})
    assert len(model.agent.run.storage) == 2 and not model.is_using_her()
    replay = model.replay_buffer
    assert len(replay) == 2 and replay.can_sample(2) and not replay.is_full()
    obs, actions, rewards, following, dones = replay.sample(32)
    assert obs.shape == following.shape == (32, 3) and actions.shape == (32, 1)
    assert set(rewards.tolist()) == {1.0} and np.array_equal(dones, obs[:, 0])


def step_of(done: bool, info: dict, **keywords) -> Step:
    """The step that a transition from 1 to 2 becomes."""
    kept: list[Step] = []
    plan = SimpleNamespace(info_keys=tuple(keywords.get("info_keys", ())))
    storage = SimpleNamespace(add=kept.append)
    space = spaces.Discrete(3, start=5)
    run = SimpleNamespace(n_envs=1, plan=plan, storage=storage, action_space=space)
    add_transition(run, np.ones(2), 6, -3, 2 * np.ones(2), done, info)
    return kept[0]


@pytest.mark.parametrize(
    ("done", "told", "terminated", "truncated"),
    [
        (False, False, False, False),
        (True, False, True, False),
        (True, True, False, True),
        (False, True, False, False),  # no episode ended
    ],
)
def test_a_transition_is_an_end_of_one_kind_at_most(done, told, terminated, truncated) -> None:
    step = step_of(done, {"TimeLimit.truncated": told})
    assert (step.terminated.tolist(), step.truncated.tolist()) == ([terminated], [truncated])
    assert {i: last.tolist() for i, last in step.final_observation.items()} == (
        {0: [2, 2]} if done else {}
    )
    assert step.observation.tolist() == [[1, 1]] and step.next_observation.tolist() == [[2, 2]]
    assert step.action.tolist() == [1] and step.reward.tolist() == [-3]


def test_what_rewards_in_hindsight_read_of_infos_is_kept() -> None:
    step = step_of(False, {"wind": 1.5, "other": 3}, info_keys=["wind"])
    assert {key: value.tolist() for key, value in step.extras.items()} == {"info.wind": [1.5]}
    assert np.isnan(step_of(False, {"other": 3}, info_keys=["wind"]).extras["info.wind"]).all()
