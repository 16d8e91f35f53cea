from __future__ import annotations

import numpy as np
import pytest

from rlk.abilities import BeginsCollections, offers
from rlk.records import Act
from rlk_networks.held_noise import HeldNoiseActor, holding_noise

N = 2
START = np.zeros(N, bool)


class Echo:
    """Its action is the noise it was given; it carries how often it acted."""

    def start(self, n_envs):
        return 0

    def metrics(self):
        return {"rollout/echo": 1.0}

    def act(self, observation, carry, episode_start, deterministic=False, noise=None):
        return Act(noise, noise, carry + 1, {"seen": observation})


class Draws:
    """Noise that counts how often it was drawn."""

    def __init__(self, hold_steps):
        self.hold_steps, self.drawn = hold_steps, 0

    def noise(self, rng, batch):
        self.drawn += 1
        return np.full((batch, 1), self.drawn, np.float32)


def acted(actor, carry, steps, deterministic=False):
    """The noise of each of these steps, and the carry after them."""
    found = []
    for _ in range(steps):
        act = actor.act(np.zeros(N), carry, START, deterministic)
        found.append(None if act.action is None else int(act.action[0, 0]))
        carry = act.carry
    return found, carry


def held(hold_steps, **keywords):
    return HeldNoiseActor(Echo(), Draws(hold_steps), np.random.default_rng(0), **keywords)


@pytest.mark.parametrize(
    ("hold_steps", "noise"),
    [(1, [1, 2, 3, 4, 5]), (2, [1, 1, 2, 2, 3]), (4, [1, 1, 1, 1, 2]), (None, [1] * 5)],
)
def test_noise_is_drawn_anew_after_so_many_steps(hold_steps, noise):
    actor = held(hold_steps)
    assert acted(actor, actor.start(N), 5)[0] == noise


@pytest.mark.parametrize(("hold_steps", "noise"), [(2, [2, 2, 3]), (None, [2, 2, 2])])
def test_a_collection_begins_with_new_noise(hold_steps, noise):
    actor = held(hold_steps)
    assert offers(actor, BeginsCollections)
    _, carry = acted(actor, actor.begin(actor.start(N)), 1)
    assert acted(actor, actor.begin(carry), 3)[0] == noise


def test_a_collection_that_continues_an_earlier_one_keeps_its_noise():
    begins = iter([False, True])
    actor = held(3, begins=lambda: next(begins))
    _, carry = acted(actor, actor.start(N), 2)
    found, carry = acted(actor, actor.begin(carry), 2)
    assert found == [1, 2], "the third step with the first draw, and then it is drawn anew"
    assert acted(actor, actor.begin(carry), 1)[0] == [3]


def test_only_a_distribution_that_holds_noise_needs_an_actor_that_does():
    class Fresh:
        def noise(self, rng, batch): ...

    echo, rng = Echo(), np.random.default_rng(0)
    assert holding_noise(echo, Fresh(), rng) is echo
    assert type(holding_noise(echo, Draws(2), rng)) is HeldNoiseActor


def test_what_went_before_is_not_changed_and_gives_the_same_again():
    actor = held(3)
    _, carry = acted(actor, actor.start(N), 2)
    before = {**carry, "noise": carry["noise"].copy()}
    actor.begin(carry)
    acted(actor, carry, 4)
    assert carry.keys() == before.keys()
    assert carry["steps"] == 2 and np.array_equal(carry["noise"], before["noise"])
    assert acted(actor, carry, 1)[0] == [1]


def test_a_deterministic_action_draws_nothing_and_is_no_step():
    actor = held(2)
    found, carry = acted(actor, actor.start(N), 3, deterministic=True)
    assert found == [None] * 3 and actor.distribution.drawn == 0
    found, carry = acted(actor, carry, 1)
    acted(actor, carry, 3, deterministic=True)
    assert found + acted(actor, carry, 2)[0] == [1, 1, 2]


def test_the_other_actor_keeps_its_own_carry_extras_and_metrics():
    actor = held(2)
    _, carry = acted(actor, actor.start(N), 3)
    assert carry["carry"] == 3
    act = actor.act(np.ones(N), carry, START)
    assert act.extras["seen"].tolist() == [1.0, 1.0] and actor.metrics() == {"rollout/echo": 1.0}


def test_a_state_of_others_is_refused():
    actor = held(2)
    _, carry = acted(actor, actor.start(N), 1)
    with pytest.raises(ValueError, match="of n_envs=2, but here n_envs=3"):
        actor.act(np.zeros(3), carry, np.zeros(3, bool))
    for wrong in (np.zeros((N, 4)), {"noise": None}, None):
        told = rf"holds its noise has a state, got {type(wrong).__name__}: .* start\(n_envs\) of"
        with pytest.raises(ValueError, match=told):
            actor.act(np.zeros(N), wrong, START)


def test_the_other_actor_tells_probabilities_by_its_own_carry():
    class Tells(Echo):
        def probabilities(self, observation, carry, episode_start):
            return observation, carry, episode_start

        def log_prob(self, observation, carry, episode_start, env_action):
            return observation, carry, episode_start, env_action

    actor = HeldNoiseActor(Tells(), Draws(2), None)
    carry = {"noise": None, "steps": 0, "carry": 7}
    assert actor.probabilities("seen", carry, START) == ("seen", 7, START)
    assert actor.log_prob("seen", carry, START, "done") == ("seen", 7, START, "done")
