"""A step that the replay refuses changes nothing: the transitions before it stay as they were."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from rlk.errors import RlkError
from rlk.records import Step
from rlk.spaces import map_observation
from rlk_replay.config import ReplayConfig
from rlk_replay.storage import Replay
from rlk_testing.contracts.storage.trajectory import SPACES, Trajectory, equal, numbers, schema
from rlk_testing.tools.states import same

STACKS = gym.spaces.Box(0, 255, (4, 90), np.uint8)
CASES = {
    **SPACES,
    "stacks": STACKS,
    "stack": gym.spaces.Dict(camera=STACKS, room=SPACES["discrete"]),
}


def opened(made: Trajectory, size: int = 50) -> Replay:
    storage = Replay(ReplayConfig(buffer_size=size, frame_stack=4))
    storage.open(schema(made))
    return storage


def assert_right(storage: Replay, made: Trajectory, given: set[int]) -> None:
    """What is stored is the newest of these transitions of the trajectory, unchanged."""
    window = storage.window(np.arange(len(storage)), 1)
    found = numbers(window.reward[0]).tolist()
    assert set(found) == set(sorted(given)[-storage.slots :])
    for b, number in enumerate(found):
        seen, after = (
            map_observation(lambda part, k=k, b=b: part[k, b], window.observation) for k in (0, 1)
        )
        assert equal(seen, made.seen[number].observation)
        assert equal(after, made.seen[number].next_observation)


def without_final(step: Step) -> Step:
    """A vector environment has forgotten the last observation of an episode."""
    return step._replace(truncated=np.array([True, True]), final_observation={})


def without_extra(step: Step) -> Step:
    return step._replace(extras={})


@pytest.mark.parametrize("before", [0, 1, 20, 60])
@pytest.mark.parametrize("broken", [without_final, without_extra])
@pytest.mark.parametrize("space", CASES)
def test_a_refused_step_leaves_the_transitions_before_it(
    space: str, broken: Any, before: int
) -> None:
    made = Trajectory(CASES[space], gym.spaces.Discrete(4))
    storage = opened(made)
    for step in made.steps(before):
        storage.add(step)
    given = set(range(2 * before))
    for step in made.steps(5):
        with pytest.raises(RlkError, match=r"final observation|lacks it"):
            storage.add(broken(step))
        assert len(storage) == min(2 * before, 50)
        storage.interrupt()  # the environments are reset
        assert_right(storage, made, given)
    first = len(made.seen)
    for step in made.steps(10):
        storage.add(step)
    assert_right(storage, made, given | set(range(first, first + 20)))


@pytest.mark.parametrize("before", [0, 5, 60])
@pytest.mark.parametrize("broken", [without_final, without_extra])
@pytest.mark.parametrize("space", CASES)
def test_a_refused_step_that_is_mended_is_stored_as_if_it_had_not_been_refused(
    space: str, broken: Any, before: int
) -> None:
    made = Trajectory(CASES[space], gym.spaces.Discrete(4))
    storage, twin = opened(made), opened(made)
    for count, step in enumerate(made.steps(before + 3)):
        if count >= before:
            with pytest.raises(RlkError, match=r"final observation|lacks it"):
                storage.add(broken(step))
        storage.add(step)
        twin.add(step)
        assert same(storage.state_dict(), twin.state_dict())


def test_a_side_table_that_finds_no_memory_leaves_everything_and_may_find_it_later() -> None:
    room = 0

    def zeros(shape: tuple[int, ...], dtype: Any) -> Any:
        nonlocal room
        room -= 1
        if room < 0:
            raise MemoryError
        return np.zeros(shape, dtype)

    made = Trajectory(SPACES["dict"], gym.spaces.Discrete(4), ends=0.9)
    storage = Replay(ReplayConfig(buffer_size=500))
    storage._zeros, room = zeros, 100
    storage.open(schema(made))
    refused = 0
    for count, step in enumerate(made.steps(100)):
        room = 1 if count else 100  # for one array of the two
        try:
            storage.add(step)
        except MemoryError:
            refused += 1
            assert_right(storage, made, set(range(2 * count)))
            room = 100
            storage.add(step)
        assert_right(storage, made, set(range(2 * count + 2)))
    assert refused > 2
