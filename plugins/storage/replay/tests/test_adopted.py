"""A replay that begins with what another one has saved: the same transitions, in another form."""

from __future__ import annotations

import copy
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from rlk.errors import RlkError
from rlk.records import Field, Update
from rlk_prioritized_replay.config import PrioritizedReplayConfig
from rlk_prioritized_replay.storage import PrioritizedReplay
from rlk_replay.config import ReplayConfig
from rlk_replay.ring import Ring
from rlk_replay.storage import Replay
from rlk_testing.contracts.storage.trajectory import Trajectory, schema_for
from rlk_testing.tools.states import same

SPACE = gym.spaces.Dict(
    {
        "place": gym.spaces.Box(-9, 9, (3,), np.float32),
        "camera": gym.spaces.Box(0, 255, (4, 60), np.uint8),
    }
)

ACTIONS = gym.spaces.Discrete(4)


def opened(
    buffer_size: int,
    n_envs: int,
    *,
    space: Any = SPACE,
    actions: Any = ACTIONS,
    priorities: bool = False,
    **config: Any,
) -> Replay:
    storage = Replay(ReplayConfig(buffer_size=buffer_size, **config))
    schema = schema_for(space, actions, n_envs, extras={"log_prob": Field(())})
    storage.open(schema)
    if priorities:
        decorator = PrioritizedReplay(PrioritizedReplayConfig())
        decorator.open(storage, schema)
        storage.decorate(decorator)
    return storage


def played(storage: Replay, steps: int, seed: int = 0) -> Replay:
    made = Trajectory(SPACE, ACTIONS, storage.schema.n_envs, seed=seed)
    for step in made.steps(steps):
        storage.add(step)
    return storage


def transitions(storage: Replay) -> dict[float, tuple[Any, ...]]:
    """Everything stored, by its reward, which is the number of the transition."""
    window = storage.window(np.arange(len(storage)), 1)
    fields = [window.action[0], window.terminated[0], window.truncated[0]]
    fields += [window.extras["log_prob"][0]]
    fields += [values[k] for values in window.observation.values() for k in (0, 1)]
    return {
        float(reward): tuple(field[b].tolist() for field in fields)
        for b, reward in enumerate(window.reward[0])
    }


def episodes(storage: Replay) -> list[list[float]]:
    """The rewards of what is stored, by episode: from each first step to the last."""
    slots = np.arange(len(storage))
    first = slots[storage.steps_from_start(slots) == 0]
    return sorted(
        storage.window(np.array([slot]), int(steps) + 1).reward[:, 0].tolist()
        for slot, steps in zip(first, storage.steps_to_end(first), strict=True)
    )


@pytest.mark.parametrize("frame_stack", [1, 4])
@pytest.mark.parametrize("n_envs", [1, 2, 3])
@pytest.mark.parametrize("steps", [5, 60])
def test_a_larger_memory_takes_all_transitions_whatever_the_number_of_environments(
    steps: int, n_envs: int, frame_stack: int
) -> None:
    saved = played(opened(50, 2), steps)
    found = opened(200, n_envs, frame_stack=frame_stack)
    found.adopt(saved.state_dict())
    kept, expected = transitions(found), transitions(saved)
    assert kept.items() <= expected.items()
    assert len(kept) == len(expected) // n_envs * n_envs


def test_environments_keep_their_episodes_and_a_cut_ends_one() -> None:
    saved, same_number, one = played(opened(60, 2), 45), opened(500, 2), opened(500, 1)
    for storage in (same_number, one):
        storage.adopt(saved.state_dict())
        assert episodes(storage) == episodes(saved)


@pytest.mark.parametrize(("size", "n_envs"), [(50, 2), (80, 2), (80, 1)])
def test_an_episode_that_began_where_a_reset_had_cut_another_stays_apart(
    size: int, n_envs: int
) -> None:
    always = gym.spaces.Box(1, 1, (3,), np.float32)  # so all observations are equal
    saved, found = opened(50, 2, space=always), opened(size, n_envs, space=always)
    for count, step in enumerate(Trajectory(always, ACTIONS, 2, ends=0).steps(20)):
        if count == 5:
            saved.interrupt()
        saved.add(step)
    found.adopt(saved.state_dict())
    begins, ends = [1, 2, 11, 12], [10, 11, 40, 41]
    assert episodes(found) == [
        [float(reward) for reward in range(begin, end, 2)]
        for begin, end in zip(begins, ends, strict=True)
    ]


def test_a_smaller_memory_takes_the_newest_of_every_environment() -> None:
    saved, found = played(opened(50, 2), 60), opened(20, 2)
    found.adopt(saved.state_dict())
    assert sorted(transitions(found)) == sorted(transitions(saved))[-20:]


def test_a_smaller_memory_of_more_environments_takes_the_newest() -> None:
    saved = played(opened(60, 1), 60)
    for n_envs, size in ((2, 20), (3, 20), (3, 61), (7, 50)):
        found = opened(size, n_envs)
        found.adopt(saved.state_dict())
        kept = min(size // n_envs, 60 // n_envs) * n_envs
        assert sorted(transitions(found)) == sorted(transitions(saved))[-kept:]


@pytest.mark.parametrize(
    ("size", "n_envs", "expected"),
    [
        (100, 3, [[3, 5, 7], [9, 2, 4], [6, 8, 10]]),  # 1, the oldest of the first, is left over
        (9, 3, [[3, 5, 7], [9, 2, 4], [6, 8, 10]]),  # 9 are 5 of each of two, and one too many
        (3, 1, [[9, 8, 10]]),  # 3 are 2 of each of two, and one too many
    ],
)
def test_the_newest_of_each_environment_in_a_row_are_cut_into_equal_parts(
    size: int, n_envs: int, expected: list[list[float]]
) -> None:
    saved, found = played(opened(10, 2), 5), opened(size, n_envs)  # 1 3 5 7 9 and 2 4 6 8 10
    found.adopt(saved.state_dict())
    rewards = found.window(np.arange(len(found)), 1).reward[0]
    assert rewards.reshape(-1, n_envs).T.tolist() == expected


def test_of_the_same_form_it_is_the_same_bit_for_bit_with_priorities() -> None:
    saved = played(opened(50, 2, priorities=True), 60)
    for _ in range(5):
        batch = saved.sample(8)
        saved.feedback(batch, Update({}, td_error=batch.reward))
    found = played(opened(50, 2, priorities=True), 9, seed=5)
    found.adopt(saved.state_dict())
    saved.interrupt()  # the other run begins with a reset
    assert same(found.state_dict(), saved.state_dict())


@pytest.mark.parametrize("size", [50, 80])
def test_its_last_episode_ends_though_the_run_begins_where_it_led_to(size: int) -> None:
    saved, found = played(opened(50, 2), 10), opened(size, 2)
    found.adopt(saved.state_dict())
    observation = {key: found.observation_after(np.array([18, 19]), key) for key in SPACE.spaces}
    step = next(iter(Trajectory(SPACE, ACTIONS, 2, seed=3).steps(1)))
    found.add(step._replace(observation=observation))
    assert found.steps_to_end(np.array([18, 19])).tolist() == [0, 0]
    assert found.steps_from_start(np.array([20, 21])).tolist() == [0, 0]


def test_what_was_there_is_forgotten_and_new_transitions_follow() -> None:
    saved, found = played(opened(50, 2), 10), played(opened(80, 2, priorities=True), 30, seed=5)
    found.adopt(saved.state_dict())
    assert transitions(found) == transitions(saved)
    assert found.sample(200).index.max() < 20
    played(found, 3, seed=9)
    assert len(found) == 26
    assert set(found.sample(500).index.tolist()) == set(range(26))


def test_other_observations_are_refused_by_name() -> None:
    saved, found = played(opened(50, 2), 3).state_dict(), played(opened(70, 2), 9)
    saved["layout"]["observation.place"] = "<f4[2]"
    with pytest.raises(
        RlkError, match=r"observation.place is <f4\[2\] there, <f4\[3\] here"
    ) as raised:
        found.adopt(saved)
    assert "n_envs" not in str(raised.value)  # it and the size may differ
    assert len(found) == 18  # what it has stays


@pytest.mark.parametrize("missing", ["time", "records", "observations", "frames", "episodes"])
@pytest.mark.parametrize("size", [50, 80])
def test_what_it_has_stays_if_the_saved_replay_is_damaged(size: int, missing: str) -> None:
    saved = played(opened(50, 2, priorities=True), 60).state_dict()
    found = played(opened(size, 2, priorities=True), 9, seed=5)
    before = copy.deepcopy(found.state_dict())
    del saved[missing]
    with pytest.raises(KeyError, match=missing):
        found.adopt(saved)
    assert same(found.state_dict(), before)


def test_it_is_empty_if_only_the_saved_priorities_are_damaged() -> None:
    saved = played(opened(50, 2, priorities=True), 60).state_dict()
    found = played(opened(50, 2, priorities=True), 9, seed=5)
    del saved["decorators"]["choose"]["highest"]
    with pytest.raises(KeyError, match="highest"):
        found.adopt(saved)
    assert same(found.state_dict(), opened(50, 2, priorities=True).state_dict())
    played(found, 3)
    assert set(found.sample(200).index.tolist()) == set(range(6))


def test_it_is_empty_if_one_of_the_saved_transitions_cannot_be_read() -> None:
    saved, found = played(opened(2000, 2), 900), played(opened(1900, 2), 9, seed=5)
    saved._ring._side_rows[850, 0] = 10_000  # a row that the side table does not have
    with pytest.raises(IndexError):
        found.adopt(saved.state_dict())
    assert same(found.state_dict(), opened(1900, 2).state_dict())


def test_a_damaged_state_leaves_a_storage_that_loads_it_empty() -> None:
    saved, found = played(opened(50, 2), 60).state_dict(), opened(50, 2)
    del saved["records"]
    with pytest.raises(KeyError, match="records"):
        found.load_state_dict(saved)
    assert len(found) == 0


@pytest.mark.parametrize("size", [50, 80])
def test_actions_of_another_space_are_refused_though_they_look_the_same(size: int) -> None:
    def box(bound: float) -> gym.spaces.Box:
        return gym.spaces.Box(-bound, bound, (2,), np.float32)

    saved, found = opened(50, 2, actions=box(1.0)), opened(size, 2, actions=box(10.0))
    with pytest.raises(RlkError, match=r"action_space is Box\(-1.0, 1.0, .* there, Box\(-10.0"):
        found.adopt(saved.state_dict())


@pytest.mark.parametrize("frame_stack", [1, 4])
@pytest.mark.parametrize("steps", [0, 3, 60])
def test_it_takes_memory_for_the_transitions_saved_not_for_the_size_of_their_memory(
    steps: int, frame_stack: int
) -> None:
    saved = played(opened(100_000, 2, frame_stack=frame_stack), steps)
    found, taken = opened(30, 2, frame_stack=frame_stack), 0

    def zeros(shape: tuple[int, ...], dtype: Any) -> Any:
        nonlocal taken
        taken += int(np.prod(shape)) * np.dtype(dtype).itemsize
        return np.zeros(shape, dtype)

    found._zeros = zeros
    found.adopt(saved.state_dict())
    assert sorted(transitions(found)) == sorted(transitions(saved))[-30:]
    assert taken < 300_000  # the saved memory has 25 MB


@pytest.mark.parametrize(
    ("limit", "most"),
    [("_AT_A_TIME", 16), ("_BYTES_AT_A_TIME", 16 * (3 * 4 + 4 * 60))],  # 16 transitions
)
def test_its_limits_of_what_is_read_at_a_time_count_all_environments(
    monkeypatch: pytest.MonkeyPatch, limit: str, most: int
) -> None:
    monkeypatch.setattr(f"rlk_replay.saved_steps.{limit}", most)
    saved, found = played(opened(80, 8), 10), opened(160, 8)
    read: list[int] = []

    def gather(ring: Ring, slots: Any, length: int) -> Any:
        read.append(len(slots))
        return gather_all(ring, slots, length)

    gather_all = Ring.gather
    monkeypatch.setattr(Ring, "gather", gather)
    found.adopt(saved.state_dict())
    assert read == [16] * 5


def test_an_empty_memory_may_be_adopted() -> None:
    found = played(opened(80, 2), 3)
    found.adopt(opened(50, 2).state_dict())
    assert len(found) == 0
