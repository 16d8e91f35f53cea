"""Goals that stay: a priority belongs to a slot and its goal, and offline a goal to its slot."""

import copy

import numpy as np
import pytest
from goal_line import step_at

from rlk.errors import RlkError
from rlk.records import Update
from rlk_prioritized_replay.config import PrioritizedReplayConfig
from rlk_prioritized_replay.storage import PrioritizedReplay
from rlk_replay.config import ReplayConfig
from rlk_replay.storage import Replay

# ---- priorities ----------------------------------------------------------------------------------


def goals_of(base: Replay, index: list[int]) -> list[float]:
    owner = base._owner
    window = owner["relabel"].relabel(base.window(np.array(index), 1))
    return [float(goal) for goal in window.observation["desired_goal"][0, :, 0]]


def priorities(base: Replay) -> np.ndarray:
    return base._owner["choose"]._tree.leaves.reshape(-1, base.slots)


def test_with_priorities_a_variant_has_one_goal_as_long_as_its_slot(line):
    base, _ = line(8, {5: "truncated"}, prioritized=True)
    index = [slot + variant * base.slots for slot in range(6) for variant in range(1, 5)]
    first = goals_of(base, index)
    assert len(set(first)) > 3
    for _ in range(3):
        base.sample(50)
        assert goals_of(base, index) == first


def test_with_priorities_variants_are_offered_once_their_episode_has_ended(line):
    base, _ = line(3, prioritized=True, goals=2)
    assert (priorities(base)[1:] == 0).all() and (priorities(base)[0, :3] == 1).all()
    base.add(step_at(3, "truncated"))
    base.add(step_at(4))
    assert (priorities(base)[1:, :4] == 1).all() and (priorities(base)[1:, 4:] == 0).all()
    assert set((base.sample(300).index // base.slots).tolist()) == {0, 1, 2}


def test_with_priorities_an_episode_cut_off_by_a_reset_is_offered_too(line):
    base, _ = line(3, prioritized=True, goals=1)
    base.interrupt()
    base.add(step_at(3))
    assert (priorities(base)[1, :3] == 1).all() and priorities(base)[1, 3] == 0


def test_a_td_error_under_one_goal_leaves_the_priorities_of_the_others(line):
    base, _ = line(6, {4: "truncated"}, prioritized=True, goals=3)
    before = priorities(base).copy()
    for _ in range(50):
        batch = base.sample(1)
        if batch.index[0] >= base.slots:
            break
    base.feedback(batch, Update({}, td_error=batch.reward * 0 + 7.0))
    changed = np.argwhere(priorities(base) != before)
    assert changed.tolist() == [[batch.index[0] // base.slots, batch.index[0] % base.slots]]
    assert priorities(base)[tuple(changed[0])] == pytest.approx((7.0 + 1e-6) ** 0.6)


def test_the_priorities_of_a_slot_go_with_it_when_it_is_overwritten(line):
    base, hindsight = line(4, {3: "truncated"}, rows=4, prioritized=True, goals=2)
    base.add(step_at(4))  # offers 1 to 3, and overwrites 0
    assert (priorities(base)[1:] == [[0, 1, 1, 1]] * 2).all()
    assert hindsight._chosen is not None and (hindsight._chosen[:, 0] == -1).all()


def test_a_goal_whose_step_was_overwritten_is_drawn_again_when_it_is_sampled(line):
    # Slots 0 and 1 (an episode), 2 and 3 (another): the goals of any come from all of them.
    ends = {1: "truncated", 3: "truncated", 4: "truncated"}
    base, hindsight = line(5, ends, rows=4, prioritized=True, strategy="random", goals=30)
    base.add(step_at(5))  # steps 2 to 5 are left
    assert hindsight._chosen is not None
    chosen = hindsight._chosen[:, 3].copy()
    stale = np.flatnonzero(chosen < 2)
    kept = np.flatnonzero(chosen >= 2)
    assert len(stale) and len(kept)
    index = [3 + (variant + 1) * base.slots for variant in range(30)]
    first = goals_of(base, index)
    assert set(first) <= {3.0, 3.5, 4.5, 6.0}
    assert (hindsight._chosen[kept, 3] == chosen[kept]).all()
    assert (hindsight._chosen[stale, 3] >= 2).all()
    assert goals_of(base, index) == first


@pytest.mark.parametrize("online", [None, True])
def test_without_priorities_goals_are_drawn_anew_and_nothing_is_kept(line, online):
    base, hindsight = line(6, {5: "truncated"}, online=online)
    assert goals_of(base, [base.slots] * 20) != goals_of(base, [base.slots] * 20)
    assert hindsight.state_dict() == {} and hindsight._chosen is None


# ---- offline sampling without priorities ---------------------------------------------------------


def test_offline_a_variant_has_one_goal_as_long_as_its_slot(line):
    base, _ = line(7, {5: "truncated"}, online=False)
    index = [slot + variant * base.slots for slot in range(6) for variant in range(1, 5)]
    first = goals_of(base, index)
    assert len(set(first)) > 3 and 100.0 not in first
    base.sample(50)
    assert goals_of(base, index) == first


def test_offline_a_transition_keeps_its_own_goal_until_the_next_episode_begins(line):
    base, _ = line(3, online=False)
    index = [slot + base.slots for slot in range(3)]
    assert goals_of(base, index) == [100.0] * 3
    base.add(step_at(3, "truncated"))
    assert goals_of(base, index) == [100.0] * 3
    base.add(step_at(4))
    assert set(goals_of(base, index)) <= {1.0, 2.0, 3.0, 3.5}
    assert goals_of(base, [4 + base.slots]) == [100.0]


def test_offline_the_goals_of_a_slot_go_with_it_when_it_is_overwritten(line):
    base, _ = line(5, {3: "truncated"}, rows=5, online=False)
    base.add(step_at(5))  # overwrites step 0
    assert goals_of(base, [base.slots] * 4) == [100.0] * 4
    assert set(goals_of(base, [1 + base.slots])) <= {2.0, 3.0, 3.5}


# ---- state ---------------------------------------------------------------------------------------


def test_priorities_of_another_number_of_goals_are_refused(line):
    for saved, mine in [(3, 1), (1, 3)]:
        base, _ = line(6, {3: "truncated"}, prioritized=True, goals=saved)
        other, _ = line(0, prioritized=True, goals=mine)
        with pytest.raises(RlkError, match=r"n_sampled_goal"):
            other.load_state_dict(copy.deepcopy(base.state_dict()))


def test_a_memory_that_had_no_hindsight_gets_it_when_it_is_loaded(line):
    plain = Replay(ReplayConfig(buffer_size=100))
    base, _ = line(0, prioritized=True, goals=2)
    plain.open(base.schema)
    for t in range(6):
        plain.add(step_at(t, "truncated" if t == 3 else ""))
    base.load_state_dict(copy.deepcopy(plain.state_dict()))
    assert (priorities(base)[1:, :4] == 1).all() and (priorities(base)[1:, 4:] == 0).all()


def test_goals_that_a_loaded_memory_got_stay_when_the_next_episode_begins(line):
    plain = Replay(ReplayConfig(buffer_size=100))
    base, _ = line(0, online=False)
    plain.open(base.schema)
    for t in range(6):
        plain.add(step_at(t, "truncated" if t == 5 else ""))
    base.load_state_dict(copy.deepcopy(plain.state_dict()))
    index = [slot + variant * base.slots for slot in range(6) for variant in range(1, 5)]
    first = goals_of(base, index)
    base.add(step_at(6))
    assert goals_of(base, index) == first


def test_a_memory_whose_goals_were_drawn_anew_gets_goals_that_stay_when_it_is_loaded(line):
    saved, _ = line(6, {3: "truncated"}, online=True)
    base, hindsight = line(0, online=False)
    base.load_state_dict(copy.deepcopy(saved.state_dict()))
    chosen = hindsight.state_dict()["chosen"]
    assert (chosen[:, :4] >= 0).all() and (chosen[:, 4:] < 0).all()


def test_a_memory_with_hindsight_gets_priorities_when_it_is_loaded(line):
    saved, _ = line(6, {3: "truncated"}, goals=2, online=False)
    for take in ("load_state_dict", "adopt"):
        base, _ = line(0, prioritized=True, goals=2)
        getattr(base, take)(copy.deepcopy(saved.state_dict()))
        assert (priorities(base)[1:, :4] == 1).all()
        assert base.sample(8).index.max() >= base.slots


@pytest.mark.parametrize("prioritized", [True, False])
@pytest.mark.parametrize(("saved", "mine"), [(3, 1), (1, 3)])
def test_a_memory_with_another_number_of_goals_is_adopted_and_gets_new_ones(
    line, saved, mine, prioritized
):
    old, _ = line(6, {3: "truncated"}, goals=saved, prioritized=prioritized, online=False)
    base, _ = line(4, goals=mine, prioritized=prioritized, online=False)
    base.adopt(copy.deepcopy(old.state_dict()))
    assert len(base) == 6 and base.sample(200).index.max() < (1 + mine) * base.slots
    goals = {goals_of(base, [2 + variant * base.slots])[0] for variant in range(1, 1 + mine)}
    assert goals <= {3.0, 3.5}, "of the rest of its episode"


def test_a_memory_that_is_empty_gets_priorities_and_hindsight(line):
    saved, _ = line(0, goals=2)
    base, _ = line(0, prioritized=True, goals=2)
    base.load_state_dict(copy.deepcopy(saved.state_dict()))
    assert len(base) == 0


def test_priorities_may_join_a_memory_with_hindsight(line):
    base, _ = line(6, {3: "truncated"}, goals=2)
    chooses = PrioritizedReplay(PrioritizedReplayConfig())
    chooses.open(base, base.schema)
    base.decorate(chooses)
    for t in range(6, 12):
        base.add(step_at(t, "truncated" if t == 8 else ""))
        base.sample(4)
    assert (priorities(base)[1:, 4:9] == 1).all() and (priorities(base)[1:, 9:] == 0).all()
