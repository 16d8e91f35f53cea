"""Random actions: when, how many, and what they leave to the actor inside."""

from __future__ import annotations

from types import SimpleNamespace

import gymnasium as gym
import numpy as np

from rlk.records import Act
from rlk_off_policy.exploration import RandomExploration, with_random_actions

SPACE = gym.spaces.Box(0.0, 10.0, (2,), np.float32)


class Fives:
    """Chooses 5, which no random action is; its carry counts its calls."""

    def start(self, n_envs):
        return 0

    def metrics(self):
        return {}

    def act(self, observation, carry, episode_start, deterministic=False):
        action = np.full((len(episode_start), 2), 5.0, np.float32)
        return Act(action, action, None if carry is None else carry + 1, {})


def act(exploring, n=1000, carry=None, deterministic=False):
    return exploring.act(None, carry, np.zeros(n, bool), deterministic)


def exploring(probability, warms_up=lambda: False):
    return RandomExploration(Fives(), SPACE, np.random.default_rng(0), probability, warms_up)


def test_all_actions_are_uniform_and_scaled_while_it_warms_up():
    found = act(exploring(0.0, lambda: True))
    assert found.action.min() >= -1.0 and found.action.max() <= 1.0
    # The mean of 1,000 numbers from -1 to 1 is within 0.08 of 0, their variance near to 1/3.
    assert np.abs(found.action.mean(0)).max() < 0.08
    assert np.abs(found.action.var(0) - 1 / 3).max() < 0.04
    assert np.allclose(found.env_action, 5.0 + 5.0 * found.action, atol=1e-5)


def test_afterwards_some_environments_act_at_random_and_the_others_as_they_would():
    found = act(exploring(0.3))
    random = (found.action != 5.0).all(1)
    assert ((found.action == 5.0).all(1) | random).all()
    assert 230 < random.sum() < 370  # binomial: five standard deviations are 72


def test_a_deterministic_action_is_never_random():
    assert (act(exploring(1.0, lambda: True), deterministic=True).action == 5.0).all()


def test_what_the_inner_actor_carries_continues_while_all_is_random():
    assert act(exploring(0.0, lambda: True), carry=7).carry == 8
    assert act(exploring(0.0, lambda: True)).carry is None


def test_what_the_inner_actor_adds_to_a_step_is_passed_on():
    class Adds(Fives):
        def act(self, observation, carry, episode_start, deterministic=False):
            found = super().act(observation, carry, episode_start)
            return found._replace(extras={"log_prob": np.full(len(episode_start), -1.0)})

    for warms_up in (True, False):
        run = SimpleNamespace(
            streams=SimpleNamespace(numpy=lambda name: np.random.default_rng(0)),
            algorithm=SimpleNamespace(extras=lambda: {"log_prob": ()}),
            action_space=SPACE,
            timesteps=0 if warms_up else 10,
        )
        found = act(with_random_actions(Adds(), run, 10, 0.5), n=4)
        assert found.extras["log_prob"].tolist() == [-1.0] * 4


def test_it_is_left_out_where_nothing_is_to_be_random():
    actor = Fives()
    assert with_random_actions(actor, SimpleNamespace(), 0, 0.0) is actor


def test_it_warms_up_until_the_runs_clock_says_so():
    streams = SimpleNamespace(numpy=lambda name: np.random.default_rng(0))
    algorithm = SimpleNamespace(extras=dict)
    run = SimpleNamespace(streams=streams, algorithm=algorithm, action_space=SPACE, timesteps=9)
    made = with_random_actions(Fives(), run, 10, 0.0)
    assert (act(made).action != 5.0).all()
    run.timesteps = 10
    assert (act(made).action == 5.0).all()
