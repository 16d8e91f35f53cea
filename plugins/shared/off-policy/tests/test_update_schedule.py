"""When updates are due, by hand: steps, episodes, warm-up, enough stored, and after a restart."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from rlk.errors import PlanError
from rlk.running.clock import Clock
from rlk_off_policy.settings import parse_train_freq
from rlk_off_policy.update_schedule import UpdateSchedule
from rlk_testing.tools.thread_ranks import on_ranks


def plan_of(*, steps_nothing=False):
    """What a schedule reads of a plan, with a collector of this kind."""
    component = SimpleNamespace(steps_nothing=steps_nothing)
    collector = SimpleNamespace(title="collector 'still'", component=component)
    return SimpleNamespace(algorithm=SimpleNamespace(title="algorithm 'mine'"), collector=collector)


def schedule(n_envs=1, communicator=None, *, steps_nothing=False, **settings):
    """A schedule and the clock that it reads."""
    defaults = {"train_freq": 1, "gradient_steps": 1, "learning_starts": 0, "batch_size": 1}
    made = SimpleNamespace(**{**defaults, **settings})
    clock = Clock(total_timesteps=1000)
    communicator = communicator or SimpleNamespace(gather=lambda value: [value])
    plan = plan_of(steps_nothing=steps_nothing)
    run = SimpleNamespace(clock=clock, n_envs=n_envs, communicator=communicator, plan=plan)
    return UpdateSchedule(made, run), clock


def test_a_number_of_steps_or_of_episodes_is_understood():
    assert parse_train_freq(4) == (4, 0)
    assert parse_train_freq("1 episode") == (0, 1)
    assert parse_train_freq("12 episodes") == (0, 12)


@pytest.mark.parametrize("unit", [("step", (3, 0)), ("episode", (0, 3))])
@pytest.mark.parametrize("text", [None, "(3, '{}')", '(3,"{}")', "[3, {}]"])
def test_a_pair_of_stable_baselines3_is_understood(unit, text):
    name, parsed = unit
    assert parse_train_freq(text.format(name) if text else (3, name)) == parsed


@pytest.mark.parametrize(
    "value",
    [
        *(0, -1, "0 episodes", "episode", "4", "1 step", "1.5 episodes"),
        *((0, "episode"), (1, "epoch"), ("1", "step"), (1,), "(0, 'step')", "(1, 2)", None),
    ],
)
def test_anything_else_is_refused_with_what_it_was(value):
    with pytest.raises(ValueError, match="vector steps of at least 1"):
        parse_train_freq(value)


def test_updates_do_not_wait_for_episodes_where_no_environment_is_stepped():
    with pytest.raises(PlanError, match=r"'mine': train_freq='1 episode' .*'still' steps no envir"):
        schedule(train_freq="1 episode", steps_nothing=True)
    made, _ = schedule(train_freq=4, steps_nothing=True)
    assert made.updates_due(1) == 1


def test_updates_wait_for_learning_starts_and_for_a_batch():
    made, clock = schedule(learning_starts=3, batch_size=2)
    due = []
    for clock.timesteps, stored in ((1, 1), (2, 2), (3, 1), (4, 2), (5, 1)):
        due.append(made.updates_due(stored))
    assert due == [0, 0, 0, 1, 0]


def test_ranks_update_together_when_each_has_a_batch():
    """The second rank has stored less; the fourth time, nobody is asked."""
    due, asked = {}, []

    def work(rank):
        def gather(value):
            asked.append(rank.rank)
            return rank.gather(value)

        made, _ = schedule(batch_size=4, communicator=SimpleNamespace(gather=gather))
        due[rank.rank] = [made.updates_due(stored - rank.rank) for stored in (3, 4, 5, 6)]

    on_ranks(2, work)
    assert due == {0: [0, 0, 1, 1], 1: [0, 0, 1, 1]}
    assert sorted(asked) == [0, 0, 0, 1, 1, 1]


def test_steps_of_an_episode_are_counted_as_one_collection():
    """One vector step is collected at a time; the second, third and fourth belong to the first."""
    made, clock = schedule(train_freq="1 episode", learning_starts=100)
    new = []
    for clock.timesteps, clock.episodes in ((1, 0), (2, 0), (3, 0), (4, 1), (5, 1)):
        new.append(made.is_new_collection())
        made.updates_due(1)
    assert new == [True, False, False, False, True]
    made, _ = schedule(train_freq=4)
    for _ in range(3):
        assert made.is_new_collection()
        made.updates_due(1)


def test_minus_one_is_an_update_for_each_timestep_collected_since_the_last():
    made, clock = schedule(n_envs=3, train_freq=4, gradient_steps=-1)
    clock.timesteps = 12
    assert made.steps_per_collect() == 4
    assert made.updates_due(12) == 12
    assert made.updates_due(12) == 12


def test_episodes_are_counted_over_all_environments_and_over_the_border():
    made, clock = schedule(n_envs=2, train_freq="2 episodes", gradient_steps=-1)
    due = []
    for clock.timesteps, clock.episodes in ((2, 0), (4, 1), (6, 1), (8, 3), (10, 4), (12, 5)):
        due.append(made.updates_due(50))
    # Three episodes are two and one more, which does not count for the next time.
    assert made.steps_per_collect() == 1
    assert due == [0, 0, 0, 8, 0, 4]


def test_a_collection_of_episodes_ends_with_the_last_of_them():
    made, clock = schedule(n_envs=2, train_freq="2 episodes", learning_starts=100)
    ends = []
    for clock.timesteps, clock.episodes in ((2, 0), (4, 1), (6, 1), (8, 3), (10, 4), (12, 5)):
        ends.append(made.ends_collection())
        made.updates_due(50)
    assert ends == [False, False, False, True, False, True], "also where there are no updates yet"
    steps, _ = schedule(train_freq=4)
    assert steps.ends_collection()


def test_what_is_collected_while_it_warms_up_is_not_made_up_for():
    made, clock = schedule(train_freq="1 episode", gradient_steps=-1, learning_starts=4)
    due = []
    for clock.timesteps, clock.episodes in ((1, 0), (2, 1), (3, 1), (4, 2)):
        due.append(made.updates_due(50))
    assert due == [0, 0, 0, 2]


def test_a_clock_that_began_again_ends_no_episode_twice():
    made, clock = schedule(train_freq="1 episode")
    clock.timesteps, clock.episodes = 9, 5
    assert made.updates_due(50) == 1
    clock.restart()
    clock.timesteps = 1
    assert made.updates_due(50) == 0
    clock.timesteps = 2
    clock.episodes += 1
    assert made.updates_due(50) == 1


def test_its_state_holds_what_was_counted():
    one, clock = schedule(train_freq="3 episodes", gradient_steps=-1)
    clock.timesteps, clock.episodes = 1, 1
    assert one.updates_due(50) == 0
    other, clock = schedule(train_freq="3 episodes", gradient_steps=-1)
    other.load_state_dict(one.state_dict())
    clock.timesteps, clock.episodes = 2, 2
    assert other.updates_due(50) == 0, "the first episode was counted before"
    clock.timesteps, clock.episodes = 3, 3
    assert other.updates_due(50) == 3
