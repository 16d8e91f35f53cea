"""Hindsight replay by hand: which goals are eligible, and what a transition is under another."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from goal_line import EndlessLine, Line, schema_of

from rlk_replay.storage import Replay

GAMMA = 0.5


def variants_of(base: Replay, slot: int, times: int = 400):
    """What becomes of many copies of a transition with a goal in hindsight."""
    index = np.full(times, slot + base.slots)
    owner = base._owner
    return owner["fold"].fold(owner["relabel"].relabel(owner["window"].window(index, 1)))


def wished(batch: Any) -> set[float]:
    return set(batch.observation["desired_goal"][:, 0].tolist())


@pytest.mark.parametrize(
    ("strategy", "slot", "goals"),
    [
        # Steps 0 to 2 are an episode that ended at 2.5; steps 3 and 4 are one that still runs.
        ("future", 0, {1.0, 2.0, 2.5}),
        ("future", 2, {2.5}),
        ("future", 3, {4.0, 5.0}),
        ("future", 4, {5.0}),
        ("final", 0, {2.5}),
        ("final", 2, {2.5}),
        ("final", 3, {100.0}),
        ("episode", 1, {1.0, 2.0, 2.5}),
        ("episode", 4, {4.0, 5.0}),
        ("random", 1, {1.0, 2.0, 2.5, 4.0, 5.0}),
        ("random", 4, {1.0, 2.0, 2.5, 4.0, 5.0}),
    ],
)
def test_exactly_these_goals_are_eligible(line, strategy, slot, goals):
    base, _ = line(5, {2: "truncated"}, strategy=strategy)
    assert wished(variants_of(base, slot)) == goals


def test_eligible_goals_are_equally_likely(line):
    base, _ = line(4, {3: "truncated"})
    found = Counter(variants_of(base, 0, 8000).observation["desired_goal"][:, 0].tolist())
    # Four goals, 2000 each; a standard deviation is 39.
    assert set(found) == {1.0, 2.0, 3.0, 3.5}
    assert all(abs(count - 2000) < 200 for count in found.values())


@pytest.mark.parametrize("goals", [1, 4])
def test_so_many_goals_in_hindsight_are_sampled_for_every_real_one(line, goals):
    base, _ = line(5, {4: "truncated"}, goals=goals)
    batch = base.sample(8000)
    real = int((batch.observation["desired_goal"] == 100.0).sum())
    assert abs(real - 8000 / (1 + goals)) < 200


def test_reward_and_end_are_those_of_the_new_goal(line):
    base, _ = line(3, {2: "truncated"})
    batch = variants_of(base, 0)
    goal = batch.observation["desired_goal"][:, 0]
    # Step 0 leads to place 1.
    assert batch.reward.tolist() == (-(goal - 1.0).abs()).tolist()
    assert batch.discount.tolist() == [0.0 if g == 1.0 else GAMMA for g in goal.tolist()]
    assert batch.next_observation["desired_goal"][:, 0].tolist() == goal.tolist()
    assert set(batch.observation["observation"][:, 0].tolist()) == {0.0}


def test_another_environment_is_asked_when_it_has_changed(line):
    class Tenfold(Line):
        def compute_reward(self, achieved_goal, desired_goal, info):
            return 10.0 * super().compute_reward(achieved_goal, desired_goal, info)

    worlds = iter([Line, Tenfold])
    base, hindsight = line(3, {2: "truncated"}, world=lambda: next(worlds)())
    hindsight.environment_changed()
    batch = variants_of(base, 0)
    goal = batch.observation["desired_goal"][:, 0]
    assert batch.reward.tolist() == (-10.0 * (goal - 1.0).abs()).tolist()


def test_no_other_environment_is_made_when_a_saved_replay_is_adopted(line):
    made = []

    def world():
        made.append(Line())
        return made[-1]

    saved, _ = line(6, {2: "truncated"})
    base, hindsight = line(3, {2: "truncated"}, world=world)
    for _ in range(3):
        base.adopt(saved.state_dict())
        assert set(variants_of(base, 0).reward.tolist()) > {0.0}, "the one there is answers"
    assert len(made) == 1
    hindsight.open(base, schema_of(world, GAMMA))
    assert len(made) == 2, "another schema may be of another environment"


def test_a_step_that_ended_at_its_own_goal_goes_on_under_another(line):
    base, _ = line(5, {1: "terminated", 4: "terminated"}, strategy="random")
    batch = variants_of(base, 1)
    goal = batch.observation["desired_goal"][:, 0]
    assert set(goal.tolist()) == {1.0, 1.5, 3.0, 4.0, 4.5}
    assert batch.discount.tolist() == [0.0 if g == 1.5 else GAMMA for g in goal.tolist()]
    assert set(batch.next_observation["observation"][:, 0].tolist()) == {1.5}


def test_where_the_environment_does_not_say_an_episode_ends_as_it_did(line):
    base, _ = line(4, {2: "terminated"}, world=EndlessLine)
    assert set(variants_of(base, 0).discount.tolist()) == {GAMMA}
    assert set(variants_of(base, 2).discount.tolist()) == {0.0}


def test_one_goal_is_set_for_all_steps_of_a_return(line):
    base, _ = line(3, {2: "truncated"}, n_steps=3, world=EndlessLine)
    batch = variants_of(base, 0)
    # Places 1, 2, 2.5 against the one goal g.
    goals = batch.observation["desired_goal"][:, 0].tolist()
    for goal, reward in zip(goals, batch.reward, strict=True):
        expected = -abs(1 - goal) - 0.5 * abs(2 - goal) - 0.25 * abs(2.5 - goal)
        assert float(reward) == pytest.approx(expected)


def test_a_return_stops_where_the_new_goal_is_reached(line):
    base, _ = line(3, {2: "truncated"}, n_steps=3)
    batch = variants_of(base, 0)
    found = {
        (float(goal), float(reward), float(discount), float(place))
        for goal, reward, discount, place in zip(
            batch.observation["desired_goal"][:, 0],
            batch.reward,
            batch.discount,
            batch.next_observation["observation"][:, 0],
            strict=True,
        )
    }
    # Goal 1: reached at once. Goal 2: |1 - 2|, then reached. Goal 2.5: 1.5, then 0.5, then reached.
    assert found == {(1.0, 0.0, 0.0, 1.0), (2.0, -1.0, 0.0, 2.0), (2.5, -1.75, 0.0, 2.5)}


def test_a_real_goal_is_left_alone(line):
    base, _ = line(5, {4: "truncated"})
    batch = base.fold(base._owner["relabel"].relabel(base.window(np.arange(5), 1)))
    assert batch.reward.tolist() == [-99.0, -98.0, -97.0, -96.0, -95.0]
    assert wished(batch) == {100.0}


def test_a_goal_that_was_overwritten_is_not_eligible(line):
    base, _ = line(6, rows=4, strategy="episode")
    # Steps 2 to 5 are left, in slots 2, 3, 0, 1; they led to places 3 to 6.
    assert wished(variants_of(base, 2)) == {3.0, 4.0, 5.0, 6.0}
    base, _ = line(6, rows=4)
    assert wished(variants_of(base, 1)) == {6.0}
