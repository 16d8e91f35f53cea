from __future__ import annotations

from types import SimpleNamespace

import gymnasium as gym
import numpy as np
import pytest

from rlk.errors import PlanError
from rlk.records import Act
from rlk.running.seeding import Streams
from rlk_epsilon_greedy.config import EpsilonGreedyConfig
from rlk_epsilon_greedy.noise import EpsilonGreedy
from rlk_testing import NoiseContract


class TestEpsilonGreedy(NoiseContract):
    component = "epsilon-greedy"


class TestEpsilonGreedyNow(NoiseContract):
    component = "epsilon-greedy"
    settings = {"initial_eps": 0.3, "final_eps": 0.3}


@pytest.mark.parametrize("algo", ["ppo2", "acer"])
def test_what_learns_from_the_probabilities_of_actions_refuses_it(rlk_make, algo):
    """The action that was taken would be another one than the stored probability is of."""
    with pytest.raises(PlanError, match=rf"'epsilon-greedy'.*is for off-policy.*'{algo}'"):
        rlk_make(algo, env="CartPole-v1", noise="epsilon-greedy")


class Constant:
    """Always action 2 of 4; counts how often it is asked."""

    asked = 0

    def start(self, n_envs):
        return None

    def metrics(self):
        return {"inner": 1.0}

    def act(self, observation, carry, episode_start, deterministic=False):
        self.asked += 1
        action = np.full(len(episode_start), 2)
        return Act(action, action + 5, carry, {})


def wrapped(progress=0.0, seed=0, timesteps=0, **settings):
    run = SimpleNamespace(
        action_space=gym.spaces.Discrete(4, start=5),
        streams=Streams(seed),
        algorithm=SimpleNamespace(extras=dict),
        clock=SimpleNamespace(progress=lambda: progress, timesteps=timesteps),
    )
    return EpsilonGreedy(run, EpsilonGreedyConfig(**settings)).wrap(Constant(), None)


def act(actor, n_envs=20_000, carry=None, deterministic=False):
    return actor.act(np.zeros((n_envs, 1)), carry, np.zeros(n_envs, bool), deterministic)


@pytest.mark.parametrize(
    ("progress", "epsilon"),
    [(0.0, 1.0), (0.05, 0.51), (0.1, 0.02), (0.5, 0.02), (1.0, 0.02)],
)
def test_epsilon_falls_linearly_over_a_part_of_the_run(progress, epsilon):
    assert wrapped(progress).epsilon() == pytest.approx(epsilon)


def test_a_fraction_of_zero_begins_at_the_final_epsilon():
    assert wrapped(0.0, fraction=0.0).epsilon() == pytest.approx(0.02)


def test_epsilon_may_rise_or_stay():
    assert wrapped(0.5, fraction=1.0, initial_eps=0.0, final_eps=1.0).epsilon() == 0.5
    assert wrapped(0.7, initial_eps=0.3, final_eps=0.3).epsilon() == pytest.approx(0.3)


def test_with_epsilon_one_all_actions_are_equally_frequent_and_nobody_is_asked():
    actor = wrapped(initial_eps=1.0)
    found = act(actor)
    # Binomial, n = 20,000 and p = 1/4: five standard deviations are 306.
    assert np.abs(np.bincount(found.action, minlength=4) - 5000).max() < 306
    assert actor.actor.asked == 0


@pytest.mark.parametrize(("timesteps", "is_random"), [(0, True), (9, True), (10, False)])
def test_before_the_end_of_the_warm_up_all_actions_are_random(timesteps, is_random):
    settings = {"initial_eps": 0.0, "final_eps": 0.0, "warm_up": 10}
    actor = wrapped(timesteps=timesteps, **settings)
    assert set(act(actor).action) == ({0, 1, 2, 3} if is_random else {2})
    assert actor.metrics()["rollout/exploration_rate"] == 0.0


def test_with_epsilon_zero_the_inner_action_stays():
    found = act(wrapped(initial_eps=0.0, final_eps=0.0))
    assert set(found.action.tolist()) == {2}


def test_the_inner_action_is_replaced_with_the_probability_epsilon():
    found = act(wrapped(initial_eps=0.4, final_eps=0.4)).action
    # Each other action: 0.4 / 4 of 20,000, five standard deviations are 212.
    counts = np.bincount(found, minlength=4)
    assert np.abs(counts[[0, 1, 3]] - 2000).max() < 212
    assert counts[2] == 20_000 - counts[[0, 1, 3]].sum()


def test_the_largest_draw_below_epsilon_picks_the_last_action():
    epsilon = 0.11
    largest = np.nextafter(epsilon, 0.0)
    assert largest * (4 / epsilon) == 4.0, "rounded up, to an action that the space has not"
    actor = wrapped(initial_eps=epsilon, final_eps=epsilon)
    actor._rng = SimpleNamespace(random=lambda n_envs: np.full(n_envs, largest))
    assert act(actor, n_envs=3).action.tolist() == [3, 3, 3]


def test_the_environment_gets_the_same_action_from_the_start_of_its_space_on():
    found = act(wrapped(initial_eps=0.5, final_eps=0.5))
    assert np.array_equal(found.env_action, found.action + 5)


def test_an_actor_that_carries_something_is_asked_even_if_all_explore():
    actor = wrapped(initial_eps=1.0)
    found = act(actor, carry={"state": 1})
    assert actor.actor.asked == 1 and found.carry == {"state": 1}


def test_a_deterministic_action_is_the_inner_one_and_draws_nothing():
    actor = wrapped(initial_eps=1.0)
    before = actor._rng.bit_generator.state
    assert set(act(actor, deterministic=True).action.tolist()) == {2}
    assert actor._rng.bit_generator.state == before


def test_it_logs_its_rate_beside_what_the_inner_actor_logs():
    assert wrapped(0.05).metrics() == {
        "inner": 1.0,
        "rollout/exploration_rate": pytest.approx(0.51),
    }


@pytest.mark.parametrize("wrong", [{"fraction": 1.1}, {"initial_eps": -0.1}, {"final_eps": 2.0}])
def test_what_is_no_probability_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        EpsilonGreedyConfig(**wrong)
