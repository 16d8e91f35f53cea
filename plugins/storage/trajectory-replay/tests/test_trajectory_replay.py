"""The trajectory replay beside a list of all collections."""

from __future__ import annotations

import copy
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from rlk.errors import RlkError
from rlk.records import Field, Step
from rlk_testing.contracts.storage.trajectory import schema_for
from rlk_trajectory_replay.config import TrajectoryReplayConfig
from rlk_trajectory_replay.protocol import TrajectoryStorage
from rlk_trajectory_replay.storage import TrajectoryReplay

BOX = gym.spaces.Box(-np.inf, np.inf, (2,), np.float32)
DICT = gym.spaces.Dict({"place": BOX, "room": gym.spaces.Discrete(1000)})
T, N, C = 3, 2, 4


def opened(
    n_steps: int = T, n_envs: int = N, space: Any = BOX, buffer_size: int = C * T, **extras: Field
) -> TrajectoryReplay:
    storage = TrajectoryReplay(TrajectoryReplayConfig(buffer_size=buffer_size))
    storage.open(schema_for(space, gym.spaces.Discrete(5), n_envs, n_steps=n_steps, extras=extras))
    return storage


def step(t: int, space: Any = BOX, n_envs: int = N, **extras: Any) -> Step:
    """Step t: environment n observes 10 t + n; some end, on 10 t + n + 0.5 or 10 t + n + 500."""
    envs = np.arange(n_envs)
    terminated, truncated = (7 * t + envs) % 5 == 0, (3 * t + envs) % 4 == 0

    def seen(at: int, more: float = 0.0) -> Any:
        numbers = 10.0 * at + envs + more
        place = np.repeat(numbers[:, None], 2, 1).astype(np.float32)
        return {"place": place, "room": numbers.astype(np.int64)} if space is DICT else place

    final = seen(t, 500.0)
    rows = [
        {key: part[n] for key, part in final.items()} if space is DICT else final[n] for n in envs
    ]
    return Step(
        observation=seen(t),
        action=(t + envs) % 5,
        reward=(10.0 * t + envs).astype(np.float32),
        terminated=terminated,
        truncated=truncated,
        next_observation=seen(t + 1),
        final_observation={n: rows[n] for n in np.flatnonzero(terminated | truncated)},
        extras=extras,
    )


def play(storage: TrajectoryReplay, times: range, **keywords: Any) -> None:
    for t in times:
        storage.add(step(t, **keywords))


def check_sequence(found: Any, env: int, first: int, space: Any = BOX) -> None:
    """AssertionError unless this environment's sequence is the steps from `first` on."""
    place = (lambda seen: seen["place"]) if space is DICT else (lambda seen: seen)
    ends = {
        int(t): float(place(found.final_observation)[f, 0])
        for f, (t, n) in enumerate(zip(found.final_time, found.final_env, strict=True))
        if n == env
    }
    for t in range(T):
        given = step(first + t)
        assert (place(found.observation)[t, env] == 10 * (first + t) + env).all()
        for field in ("action", "reward", "terminated", "truncated"):
            assert getattr(found, field)[t, env] == getattr(given, field)[env], field
        ended = bool(given.terminated[env] or given.truncated[env])
        assert ends.get(t) == (10 * (first + t) + env + 500.0 if ended else None)
    assert (place(found.next_observation)[env] == 10 * (first + T) + env).all()


def test_it_is_a_trajectory_storage_as_algorithms_see_it():
    assert isinstance(opened(), TrajectoryStorage)


@pytest.mark.parametrize("space", [BOX, DICT])
@pytest.mark.parametrize("collections", [1, 2, C, C + 1, 3 * C + 2])
def test_sequences_are_those_of_the_last_collections_each_environments_its_own(space, collections):
    storage = opened(space=space)
    play(storage, range(collections * T), space=space)
    kept = range(max(0, collections - C), collections)
    assert len(storage) == len(kept) * T * N
    seen: set[tuple[int, int]] = set()
    for _ in range(30 * len(kept)):
        found = storage.sequences()
        numbers = [int(found.reward[0, env] - env) // (10 * T) for env in range(N)]
        assert set(numbers) <= set(kept)
        for env, number in enumerate(numbers):
            check_sequence(found, env, number * T, space)
        seen.add((numbers[0], numbers[1]))
    if len(kept) > 1:
        assert any(one != other for one, other in seen)
    assert {env for pair in seen for env in pair} == set(kept)


def test_every_collection_is_as_likely_as_any_other():
    storage = opened()
    play(storage, range(C * T))
    counts = np.zeros(C)
    for _ in range(2000):
        for number in storage.sequences().reward[0] // (10 * T):
            counts[int(number)] += 1
    # Binomial with n = 4,000 and p = 1/4: five standard deviations are 137.
    assert np.abs(counts - 1000).max() < 137


def test_the_latest_collection_stays_as_it_is_while_more_is_added():
    storage = opened()
    play(storage, range(2 * T))
    latest = storage.latest()
    play(storage, range(2 * T, 3 * C * T))
    for env in range(N):
        check_sequence(latest, env, T)


def test_what_the_first_step_suffices_for_is_kept_where_sequences_begin():
    storage = opened(state=Field((3,), first_only=True), episode_start=Field((), "bool"))
    for t in range(2 * T):
        start = np.array([t % 2 == 0, False])
        storage.add(step(t, state=np.full((N, 3), t), episode_start=start))
    latest = storage.latest()
    assert latest.extras["state"].tolist() == [[[float(T)] * 3] * N]
    assert latest.extras["episode_start"].tolist() == [[False] * 2, [True, False], [False] * 2]
    assert {float(storage.sequences().extras["state"][0, 0, 0]) for _ in range(30)} == {0.0, 3.0}


def test_a_buffer_of_less_than_a_collection_holds_one():
    storage = opened(buffer_size=T - 1)
    play(storage, range(2 * T))
    assert len(storage) == T * N
    check_sequence(storage.sequences(), 0, T)


def test_an_unfinished_collection_is_neither_handed_out_nor_saved():
    storage = opened()
    with pytest.raises(RlkError, match="holds 0 of 3 steps"):
        storage.latest()
    with pytest.raises(RlkError, match="is empty"):
        storage.sequences()
    play(storage, range(T + 1))
    with pytest.raises(RlkError, match="holds 1 of 3 steps"):
        storage.latest()
    twin = opened()
    play(twin, range(1))  # forgotten with all that was there
    twin.load_state_dict(copy.deepcopy(storage.state_dict()))
    check_sequence(twin.latest(), 0, 0)
    storage.restart()
    for one in (storage, twin):
        play(one, range(T, 2 * T))
        assert len(one) == 2 * T * N
        check_sequence(one.latest(), 1, T)


def numbers_drawn(storage: TrajectoryReplay) -> set[int]:
    """The numbers of the collections that sequences are drawn from; each is checked."""
    found = set()
    for _ in range(30 * C):
        drawn = storage.sequences()
        for env in range(N):
            number = int(drawn.reward[0, env] - env) // (10 * T)
            check_sequence(drawn, env, number * T)
            found.add(number)
    return found


@pytest.mark.parametrize("is_restarted", [False, True])
@pytest.mark.parametrize("is_restored", [False, True])
@pytest.mark.parametrize("collections", [C - 1, C, C + 2])
def test_a_collection_that_is_partly_overwritten_is_neither_drawn_nor_counted_nor_saved(
    collections: int, is_restored: bool, is_restarted: bool
) -> None:
    storage = opened()
    play(storage, range(collections * T + 2))
    if is_restarted:
        storage.restart()
    if is_restored:
        saved = copy.deepcopy(storage.state_dict())
        storage = opened()
        storage.load_state_dict(saved)
    assert numbers_drawn(storage) == set(range(collections - C + 1, collections))
    assert len(storage) == (C - 1) * T * N
    storage.restart()
    play(storage, range(collections * T, (collections + 1) * T))
    assert numbers_drawn(storage) == set(range(collections - C + 1, collections + 1))


def test_the_only_collection_is_gone_when_another_one_begins() -> None:
    storage = opened(buffer_size=T)
    play(storage, range(T + 1))
    storage.restart()
    assert len(storage) == 0
    with pytest.raises(RlkError, match="holds 0 of 3 steps"):
        storage.latest()
    with pytest.raises(RlkError, match="is empty"):
        storage.sequences()


@pytest.mark.parametrize("collections", [0, 1, C, 2 * C + 1])
def test_a_restored_one_goes_on_like_the_saved_one(collections):
    storage, twin = opened(), opened()
    play(storage, range(collections * T))
    twin.load_state_dict(copy.deepcopy(storage.state_dict()))
    for one in (storage, twin):
        one._schema.rng.bit_generator.state = np.random.default_rng(5).bit_generator.state
        play(one, range(collections * T, (collections + 2) * T))
    for _ in range(20):
        a, b = storage.sequences(), twin.sequences()
        assert a.reward.tolist() == b.reward.tolist()
        assert a.final_observation.tolist() == b.final_observation.tolist()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"n_steps": 2}, "capacity is 4 there, 6 here"),
        ({"n_envs": 3}, r"reward is float32\[3, 2\] there, float32\[3, 3\] here"),
        ({"buffer_size": 6}, "capacity is 4 there, 2 here"),
        ({"space": gym.spaces.Box(-1, 1, (5,))}, "observation is"),
        ({"value": Field(())}, "extras.value is None there"),
    ],
)
def test_one_of_another_size_is_refused(changed, message):
    storage = opened()
    play(storage, range(T))
    with pytest.raises(RlkError, match=message):
        opened(**changed).load_state_dict(storage.state_dict())


def test_an_episode_that_ends_without_a_final_observation_is_refused():
    with pytest.raises(RlkError, match="ended without a final observation"):
        opened().add(step(0)._replace(final_observation={}))
