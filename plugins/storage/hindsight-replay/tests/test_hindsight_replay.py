"""Hindsight replay by hand, against the brute-force twin, and with priorities."""

import copy
from collections import Counter
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlk.errors import RlkError
from rlk.records import Schema, Step, Update
from rlk.running.clock import Clock
from rlk_hindsight_replay.config import HindsightReplayConfig
from rlk_hindsight_replay.storage import HindsightReplay
from rlk_n_step.config import NStepConfig
from rlk_n_step.storage import NStep
from rlk_prioritized_replay.config import PrioritizedReplayConfig
from rlk_prioritized_replay.storage import PrioritizedReplay
from rlk_replay.config import ReplayConfig
from rlk_replay.storage import Replay
from rlk_testing.replay_twin import ReplayTwin
from rlk_testing.trajectory import Trajectory, schema

PLACE = gym.spaces.Box(-1e6, 1e6, (1,), np.float32)
SPACE = gym.spaces.Dict({"achieved_goal": PLACE, "desired_goal": PLACE, "observation": PLACE})
STRATEGIES = ["future", "final", "episode", "random"]
GAMMA = 0.5


class World:
    """The reward is minus the distance; the episode ends at the goal."""

    def get_wrapper_attr(self, name: str) -> Any:
        return getattr(self, name)

    def compute_reward(self, achieved_goal, desired_goal, info):
        return -np.abs(achieved_goal - desired_goal).sum(-1)

    def compute_terminated(self, achieved_goal, desired_goal, info):
        return (achieved_goal == desired_goal).all(-1)


class Endless(World):
    """The same, but no goal ends an episode."""

    compute_terminated = property()  # raises AttributeError


def stack(
    opened_with: Schema,
    *,
    rows: int = 100,
    strategy: Any = "future",
    goals: int = 4,
    n_steps: int = 0,
    prioritized: bool = False,
    online: bool | None = None,
) -> tuple[Replay, HindsightReplay]:
    base = Replay(ReplayConfig(buffer_size=rows * opened_with.n_envs))
    base.open(opened_with)
    hindsight = HindsightReplay(
        HindsightReplayConfig(
            n_sampled_goal=goals, goal_selection_strategy=strategy, online_sampling=online
        )
    )
    decorators: list[Any] = [hindsight]
    if prioritized:
        decorators.insert(0, PrioritizedReplay(PrioritizedReplayConfig()))
    if n_steps:
        decorators.append(NStep(NStepConfig(n_steps=n_steps)))
    for decorator in decorators:
        decorator.open(base, opened_with)
        base.decorate(decorator)
    return base, hindsight


def line(n: int, ends: dict[int, str] | None = None, world: Any = World, **changes: Any):
    """One environment on a line: step t leads from place t to t + 1; the goal is 100."""
    opened_with = Schema(
        observation_space=SPACE,
        action_space=gym.spaces.Discrete(2),
        n_envs=1,
        n_steps=1,
        gamma=GAMMA,
        device="cpu",
        rng=np.random.default_rng(0),
        clock=Clock(100),
        make_env=world,
    )
    base, hindsight = stack(opened_with, **changes)
    for t in range(n):
        base.add(on_line(t, (ends or {}).get(t, "")))
    return base, hindsight


def on_line(t: int, end: str = "") -> Step:
    def seen(place: float) -> dict[str, Any]:
        return {
            "achieved_goal": np.array([place], np.float32),
            "desired_goal": np.array([100.0], np.float32),
            "observation": np.array([place], np.float32),
        }

    def batch(place: float) -> dict[str, Any]:
        return {key: value[None] for key, value in seen(place).items()}

    return Step(
        batch(t),
        np.zeros(1, np.int64),
        np.array([t - 99.0], np.float32),
        np.array([end == "terminated"]),
        np.array([end == "truncated"]),
        batch(t + 1),
        {0: seen(t + 0.5)} if end else {},
        {},
    )


def variants_of(base: Replay, slot: int, times: int = 400):
    """What becomes of many copies of a transition with a goal in hindsight."""
    index = np.full(times, slot + base.slots)
    owner = base._owner
    return owner["fold"].fold(owner["relabel"].relabel(owner["window"].window(index, 1)))


def wished(batch: Any) -> set[float]:
    return set(batch.observation["desired_goal"][:, 0].tolist())


# ---- by hand -------------------------------------------------------------------------------------


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
def test_exactly_these_goals_are_eligible(strategy, slot, goals):
    base, _ = line(5, {2: "truncated"}, strategy=strategy)
    assert wished(variants_of(base, slot)) == goals


def test_eligible_goals_are_equally_likely():
    base, _ = line(4, {3: "truncated"})
    found = Counter(variants_of(base, 0, 8000).observation["desired_goal"][:, 0].tolist())
    # Four goals, 2000 each; a standard deviation is 39.
    assert set(found) == {1.0, 2.0, 3.0, 3.5}
    assert all(abs(count - 2000) < 200 for count in found.values())


@pytest.mark.parametrize("goals", [1, 4])
def test_so_many_goals_in_hindsight_are_sampled_for_every_real_one(goals):
    base, _ = line(5, {4: "truncated"}, goals=goals)
    batch = base.sample(8000)
    real = int((batch.observation["desired_goal"] == 100.0).sum())
    assert abs(real - 8000 / (1 + goals)) < 200


def test_reward_and_end_are_those_of_the_new_goal():
    base, _ = line(3, {2: "truncated"})
    batch = variants_of(base, 0)
    goal = batch.observation["desired_goal"][:, 0]
    # Step 0 leads to place 1.
    assert batch.reward.tolist() == (-(goal - 1.0).abs()).tolist()
    assert batch.discount.tolist() == [0.0 if g == 1.0 else GAMMA for g in goal.tolist()]
    assert batch.next_observation["desired_goal"][:, 0].tolist() == goal.tolist()
    assert set(batch.observation["observation"][:, 0].tolist()) == {0.0}


def test_a_step_that_ended_at_its_own_goal_goes_on_under_another():
    base, _ = line(5, {1: "terminated", 4: "terminated"}, strategy="random")
    batch = variants_of(base, 1)
    goal = batch.observation["desired_goal"][:, 0]
    assert set(goal.tolist()) == {1.0, 1.5, 3.0, 4.0, 4.5}
    assert batch.discount.tolist() == [0.0 if g == 1.5 else GAMMA for g in goal.tolist()]
    assert set(batch.next_observation["observation"][:, 0].tolist()) == {1.5}


def test_where_the_environment_does_not_say_an_episode_ends_as_it_did():
    base, _ = line(4, {2: "terminated"}, world=Endless)
    assert set(variants_of(base, 0).discount.tolist()) == {GAMMA}
    assert set(variants_of(base, 2).discount.tolist()) == {0.0}


def test_one_goal_is_set_for_all_steps_of_a_return():
    base, _ = line(3, {2: "truncated"}, n_steps=3, world=Endless)
    batch = variants_of(base, 0)
    # Places 1, 2, 2.5 against the one goal g.
    goals = batch.observation["desired_goal"][:, 0].tolist()
    for goal, reward in zip(goals, batch.reward, strict=True):
        expected = -abs(1 - goal) - 0.5 * abs(2 - goal) - 0.25 * abs(2.5 - goal)
        assert float(reward) == pytest.approx(expected)


def test_a_return_stops_where_the_new_goal_is_reached():
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


def test_a_real_goal_is_left_alone():
    base, _ = line(5, {4: "truncated"})
    batch = base.fold(base._owner["relabel"].relabel(base.window(np.arange(5), 1)))
    assert batch.reward.tolist() == [-99.0, -98.0, -97.0, -96.0, -95.0]
    assert wished(batch) == {100.0}


def test_a_goal_that_was_overwritten_is_not_eligible():
    base, _ = line(6, rows=4, strategy="episode")
    # Steps 2 to 5 are left, in slots 2, 3, 0, 1; they led to places 3 to 6.
    assert wished(variants_of(base, 2)) == {3.0, 4.0, 5.0, 6.0}
    base, _ = line(6, rows=4)
    assert wished(variants_of(base, 1)) == {6.0}


# ---- against the twin ----------------------------------------------------------------------------


class GoalTrajectory(Trajectory):
    make_env = World


class EndlessTrajectory(Trajectory):
    make_env = Endless


def twin_of(trajectory: Any, rows: int, **keywords: Any) -> ReplayTwin:
    world = trajectory.make_env()
    ends = getattr(world, "compute_terminated", None)
    return ReplayTwin(
        trajectory.n_envs,
        rows,
        float(np.float32(0.9)),
        compute_reward=world.compute_reward,
        compute_terminated=ends,
        **keywords,
    )


OFFLINE = {"prioritized": False, "online": False}
#: Goals are drawn at every sample; once, without priorities; or once, with them.
MODES = ({"prioritized": False}, OFFLINE, {"prioritized": True})


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=15, deadline=None)
@given(
    mode=st.sampled_from(MODES),
    n_envs=st.sampled_from([1, 4]),
    n_steps=st.integers(0, 4),
    goals=st.integers(1, 4),
    steps=st.lists(st.integers(0, 9), min_size=1, max_size=5),
    ends=st.sampled_from([0.0, 0.1, 0.5]),
    rows=st.integers(1, 10),
    kind=st.sampled_from([GoalTrajectory, EndlessTrajectory]),
    seed=st.integers(0, 99),
)
def test_every_transition_is_that_of_the_twin(
    mode, strategy, n_envs, n_steps, goals, steps, ends, rows, kind, seed
):
    trajectory = kind(SPACE, gym.spaces.Discrete(4), n_envs=n_envs, seed=seed, ends=ends)
    base, _ = stack(
        schema(trajectory, gamma=0.9, seed=seed),
        rows=rows,
        strategy=strategy,
        goals=goals,
        n_steps=n_steps,
        **mode,
    )
    online = mode is not OFFLINE
    twin = twin_of(trajectory, rows, n_steps=max(1, n_steps), strategy=strategy, online=online)
    for count in steps:
        for step in trajectory.steps(count):
            base.add(step)
            twin.add(step)
            batch = base.sample(8)
            twin.check(batch)
            base.feedback(batch, Update({}, td_error=batch.reward))
        base.interrupt()
        twin.interrupt()


@pytest.mark.parametrize("prioritized", [False, True])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_eligible_goal_is_found_sooner_or_later(prioritized, strategy):
    trajectory = GoalTrajectory(SPACE, gym.spaces.Discrete(4), n_envs=2, ends=0.3, seed=4)
    rows = 4
    base, _ = stack(
        schema(trajectory, gamma=0.9),
        rows=rows,
        strategy=strategy,
        goals=50 if prioritized else 4,  # goals that stay: many, to see them all
        prioritized=prioritized,
    )
    twin = twin_of(trajectory, rows, strategy=strategy)
    for step in trajectory.steps(17):
        base.add(step)
        twin.add(step)
    found = {(place, source) for place, _, source in twin.check(base.sample(800)) if source}
    places = [(env, time) for env in range(2) for time in twin.stored(env)]
    expected = {(place, source) for place in places for source in twin.goals(place)}
    if prioritized:
        # Only transitions of episodes that had ended when the latest step came have goals yet;
        # those from all over the memory may be younger than the goals that were drawn then.
        before = {p for p in places if twin.is_over(p) and p[1] < 16}
        found = {(place, source) for place, source in found if place in before}
        expected = {(place, source) for place, source in expected if place in before}
    if prioritized and strategy == "random":
        assert found <= expected and len(found) > len(expected) / 2
    else:
        assert found == expected


# ---- a priority belongs to a slot and its goal ---------------------------------------------------


def goals_of(base: Replay, index: list[int]) -> list[float]:
    owner = base._owner
    window = owner["relabel"].relabel(base.window(np.array(index), 1))
    return [float(goal) for goal in window.observation["desired_goal"][0, :, 0]]


def priorities(base: Replay) -> np.ndarray:
    return base._owner["choose"]._tree.leaves.reshape(-1, base.slots)


def test_with_priorities_a_variant_has_one_goal_as_long_as_its_slot():
    base, _ = line(8, {5: "truncated"}, prioritized=True)
    index = [slot + variant * base.slots for slot in range(6) for variant in range(1, 5)]
    first = goals_of(base, index)
    assert len(set(first)) > 3
    for _ in range(3):
        base.sample(50)
        assert goals_of(base, index) == first


def test_with_priorities_variants_are_offered_once_their_episode_has_ended():
    base, _ = line(3, prioritized=True, goals=2)
    assert (priorities(base)[1:] == 0).all() and (priorities(base)[0, :3] == 1).all()
    base.add(on_line(3, "truncated"))
    base.add(on_line(4))
    assert (priorities(base)[1:, :4] == 1).all() and (priorities(base)[1:, 4:] == 0).all()
    assert set((base.sample(300).index // base.slots).tolist()) == {0, 1, 2}


def test_with_priorities_an_episode_cut_off_by_a_reset_is_offered_too():
    base, _ = line(3, prioritized=True, goals=1)
    base.interrupt()
    base.add(on_line(3))
    assert (priorities(base)[1, :3] == 1).all() and priorities(base)[1, 3] == 0


def test_a_td_error_under_one_goal_leaves_the_priorities_of_the_others():
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


def test_the_priorities_of_a_slot_go_with_it_when_it_is_overwritten():
    base, hindsight = line(4, {3: "truncated"}, rows=4, prioritized=True, goals=2)
    base.add(on_line(4))  # offers 1 to 3, and overwrites 0
    assert (priorities(base)[1:] == [[0, 1, 1, 1]] * 2).all()
    assert hindsight._chosen is not None and (hindsight._chosen[:, 0] == -1).all()


def test_a_goal_whose_step_was_overwritten_is_drawn_again_when_it_is_sampled():
    # Slots 0 and 1 (an episode), 2 and 3 (another): the goals of any come from all of them.
    ends = {1: "truncated", 3: "truncated", 4: "truncated"}
    base, hindsight = line(5, ends, rows=4, prioritized=True, strategy="random", goals=30)
    base.add(on_line(5))  # steps 2 to 5 are left
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
def test_without_priorities_goals_are_drawn_anew_and_nothing_is_kept(online):
    base, hindsight = line(6, {5: "truncated"}, online=online)
    assert goals_of(base, [base.slots] * 20) != goals_of(base, [base.slots] * 20)
    assert hindsight.state_dict() == {} and hindsight._chosen is None


# ---- offline sampling without priorities ---------------------------------------------------------


def test_offline_a_variant_has_one_goal_as_long_as_its_slot():
    base, _ = line(7, {5: "truncated"}, online=False)
    index = [slot + variant * base.slots for slot in range(6) for variant in range(1, 5)]
    first = goals_of(base, index)
    assert len(set(first)) > 3 and 100.0 not in first
    base.sample(50)
    assert goals_of(base, index) == first


def test_offline_a_transition_keeps_its_own_goal_until_the_next_episode_begins():
    base, _ = line(3, online=False)
    index = [slot + base.slots for slot in range(3)]
    assert goals_of(base, index) == [100.0] * 3
    base.add(on_line(3, "truncated"))
    assert goals_of(base, index) == [100.0] * 3
    base.add(on_line(4))
    assert set(goals_of(base, index)) <= {1.0, 2.0, 3.0, 3.5}
    assert goals_of(base, [4 + base.slots]) == [100.0]


def test_offline_the_goals_of_a_slot_go_with_it_when_it_is_overwritten():
    base, _ = line(5, {3: "truncated"}, rows=5, online=False)
    base.add(on_line(5))  # overwrites step 0
    assert goals_of(base, [base.slots] * 4) == [100.0] * 4
    assert set(goals_of(base, [1 + base.slots])) <= {2.0, 3.0, 3.5}


# ---- state ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES, ids=["online", "offline", "prioritized"])
@pytest.mark.parametrize(("strategy", "steps"), [("future", 0), ("random", 9), ("episode", 47)])
def test_a_restored_stack_goes_on_bit_for_bit(mode, strategy, steps):
    def new():
        trajectory = GoalTrajectory(SPACE, gym.spaces.Discrete(4), n_envs=2, ends=0.2)
        keywords = {"strategy": strategy, "n_steps": 2, **mode}
        return trajectory, stack(schema(trajectory, gamma=0.9), rows=12, **keywords)[0]

    trajectory, base = new()
    for step in trajectory.steps(steps):
        base.add(step)
        batch = base.sample(8)
        base.feedback(batch, Update({}, td_error=batch.reward))
    _, twin = new()
    twin.load_state_dict(copy.deepcopy(base.state_dict()))
    twin.schema.rng.bit_generator.state = base.schema.rng.bit_generator.state
    for step in trajectory.steps(20):
        found = []
        for storage in (base, twin):
            storage.add(step)
            batch = storage.sample(16)
            storage.feedback(batch, Update({}, td_error=batch.reward.sin()))
            found.append(batch)
        one, two = found
        assert np.array_equal(one.index, two.index) and one.weight.equal(two.weight)
        assert one.reward.equal(two.reward) and one.discount.equal(two.discount)
        for key in SPACE:
            assert one.observation[key].equal(two.observation[key])


def test_priorities_of_another_number_of_goals_are_refused():
    for saved, mine in [(3, 1), (1, 3)]:
        base, _ = line(6, {3: "truncated"}, prioritized=True, goals=saved)
        other, _ = line(0, prioritized=True, goals=mine)
        with pytest.raises(RlkError, match=r"n_sampled_goal"):
            other.load_state_dict(copy.deepcopy(base.state_dict()))


def test_a_memory_that_had_no_hindsight_gets_it_when_it_is_loaded():
    plain = Replay(ReplayConfig(buffer_size=100))
    base, _ = line(0, prioritized=True, goals=2)
    plain.open(base.schema)
    for t in range(6):
        plain.add(on_line(t, "truncated" if t == 3 else ""))
    base.load_state_dict(copy.deepcopy(plain.state_dict()))
    assert (priorities(base)[1:, :4] == 1).all() and (priorities(base)[1:, 4:] == 0).all()


def test_priorities_may_join_a_memory_with_hindsight():
    base, _ = line(6, {3: "truncated"}, goals=2)
    chooses = PrioritizedReplay(PrioritizedReplayConfig())
    chooses.open(base, base.schema)
    base.decorate(chooses)
    for t in range(6, 12):
        base.add(on_line(t, "truncated" if t == 8 else ""))
        base.sample(4)
    assert (priorities(base)[1:, 4:9] == 1).all() and (priorities(base)[1:, 9:] == 0).all()
