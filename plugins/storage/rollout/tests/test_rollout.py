"""The rollout storage: what was collected, and nothing else."""

from __future__ import annotations

import copy
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from rlk.component import Component
from rlk.errors import RlkError
from rlk.records import Field, Step
from rlk_rollout.component import component
from rlk_rollout.rollout import OnPolicyStorage
from rlk_rollout.storage import RolloutStorage
from rlk_testing.contracts.storage.trajectory import schema_for

BOX = gym.spaces.Box(-np.inf, np.inf, (2,), np.float64)
DICT = gym.spaces.Dict(
    {
        "position": BOX,
        "room": gym.spaces.Discrete(9),
        "camera": gym.spaces.Box(0, 255, (3, 3), np.uint8),
    }
)


def opened(
    n_steps: int = 3, n_envs: int = 2, space: Any = BOX, action: Any = None, **extras: Field
) -> RolloutStorage:
    storage = RolloutStorage()
    actions = gym.spaces.Discrete(4) if action is None else action
    storage.open(schema_for(space, actions, n_envs, n_steps=n_steps, extras=extras))
    return storage


def step(t: int, ends: dict[int, str] | None = None, n_envs: int = 2, **extras: Any) -> Step:
    """Step t: environment n observes t + n / 10, and ends on t + n / 10 + 0.5 where it ends."""
    ends = ends or {}
    envs = np.arange(n_envs)
    observation = np.repeat((t + envs / 10)[:, None], 2, 1)
    return Step(
        observation=observation,
        action=(t + envs) % 4,
        reward=t * 1.5 + envs,
        terminated=np.array([ends.get(n) == "terminated" for n in envs]),
        truncated=np.array([ends.get(n) == "truncated" for n in envs]),
        next_observation=observation + 1,
        final_observation={n: observation[n] + 0.5 for n in ends},
        extras=extras,
    )


def test_it_is_an_on_policy_storage_as_the_kernel_sees_it() -> None:
    assert isinstance(RolloutStorage(), OnPolicyStorage)


def test_the_rollout_holds_every_step_time_first() -> None:
    storage = opened(3, 2)
    for t in range(3):
        storage.add(step(t))
    rollout = storage.latest()
    assert rollout.observation.shape == (3, 2, 2)
    np.testing.assert_allclose(rollout.observation[:, :, 0], [[0, 0.1], [1, 1.1], [2, 2.1]])
    assert rollout.action.tolist() == [[0, 1], [1, 2], [2, 3]]
    assert rollout.reward.tolist() == [[0.0, 1.0], [1.5, 2.5], [3.0, 4.0]]
    np.testing.assert_allclose(rollout.next_observation[:, 1], [3, 3.1], rtol=1e-6)
    assert not rollout.terminated.any() and not rollout.truncated.any()
    assert len(rollout.final_time) == 0
    assert rollout.final_observation.shape == (0, 2)
    assert len(storage) == 6


def test_what_follows_a_step_is_the_final_observation_where_an_episode_ended() -> None:
    storage = opened(3, 2)
    for t, ends in enumerate([{}, {1: "terminated"}, {0: "truncated"}]):
        storage.add(step(t, ends))
    rollout = storage.latest()
    following = rollout.following_observation()
    np.testing.assert_allclose(following[..., 0], [[1, 1.1], [2, 1.6], [2.5, 3.1]], rtol=1e-6)
    following[:] = -1.0
    assert (rollout.observation >= 0).all() and (rollout.next_observation >= 0).all()


def test_what_follows_a_step_is_a_dict_where_observations_are() -> None:
    rooms = gym.spaces.Dict({"room": gym.spaces.Discrete(9)})
    storage = opened(2, 1, space=rooms)
    for t in range(2):
        rooms_of = {name: {"room": np.array([t + n])} for n, name in enumerate(("now", "next"))}
        given = step(t, {0: "truncated"} if t == 0 else None, n_envs=1)
        storage.add(
            given._replace(
                observation=rooms_of["now"],
                next_observation=rooms_of["next"],
                final_observation={0: {"room": 7}} if t == 0 else {},
            )
        )
    assert storage.latest().following_observation()["room"].tolist() == [[7], [2]]


def test_dtypes_are_those_that_networks_take() -> None:
    storage = opened(1, 2, value=Field((), "float32"), state=Field((2, 4), "float16"))
    storage.add(step(0, value=np.ones(2), state=np.ones((2, 2, 4))))
    rollout = storage.latest()
    assert rollout.observation.dtype == np.float32
    assert rollout.next_observation.dtype == np.float32
    assert rollout.action.dtype == np.int64
    assert rollout.reward.dtype == np.float32
    assert rollout.terminated.dtype == np.bool_
    assert rollout.extras["state"].dtype == np.float16
    assert rollout.extras["state"].shape == (1, 2, 2, 4)


@pytest.mark.parametrize(
    ("space", "shape", "dtype"),
    [
        (gym.spaces.Box(-1, 1, (3,), np.float64), (3,), np.float32),
        (gym.spaces.MultiDiscrete([2, 5]), (2,), np.int64),
        (gym.spaces.MultiBinary(4), (4,), np.int64),
    ],
)
def test_actions_are_float32_where_they_are_continuous_and_int64_elsewhere(
    space: Any, shape: tuple[int, ...], dtype: Any
) -> None:
    storage = opened(1, 2, action=space)
    storage.add(step(0)._replace(action=np.ones((2, *shape))))
    assert storage.latest().action.shape == (1, 2, *shape)
    assert storage.latest().action.dtype == dtype


def test_steps_are_copied() -> None:
    storage = opened(1, 2, value=Field(()))
    given = step(0, {0: "truncated"}, value=np.full(2, 7.0))
    storage.add(given)
    for array in (
        given.observation,
        given.action,
        given.reward,
        given.truncated,
        given.next_observation,
        given.final_observation[0],
        given.extras["value"],
    ):
        array[...] = 3
    rollout = storage.latest()
    np.testing.assert_allclose(rollout.observation[0, :, 0], [0, 0.1])
    np.testing.assert_allclose(rollout.next_observation[:, 0], [1, 1.1])
    assert rollout.action.tolist() == [[0, 1]]
    assert rollout.reward.tolist() == [[0.0, 1.0]]
    assert rollout.truncated.tolist() == [[True, False]]
    assert rollout.final_observation.tolist() == [[0.5, 0.5]]
    assert rollout.extras["value"].tolist() == [[7.0, 7.0]]


def test_what_episodes_ended_on_is_listed_by_time_and_environment() -> None:
    storage = opened(3, 2)
    storage.add(step(0, {1: "terminated"}))
    storage.add(step(1))
    storage.add(step(2, {0: "truncated", 1: "truncated"}))
    rollout = storage.latest()
    assert rollout.final_time.tolist() == [0, 2, 2]
    assert rollout.final_env.tolist() == [1, 0, 1]
    np.testing.assert_allclose(rollout.final_observation[:, 0], [0.6, 2.5, 2.6], rtol=1e-6)
    assert rollout.terminated.tolist() == [[False, True], [False, False], [False, False]]
    assert rollout.truncated.tolist() == [[False, False], [False, False], [True, True]]


def test_any_number_of_episodes_may_end() -> None:
    storage = opened(40, 2)
    for _ in range(2):
        for t in range(40):
            storage.add(step(t, {0: "terminated", 1: "truncated"}))
        rollout = storage.latest()
        assert rollout.final_time.tolist() == np.repeat(np.arange(40), 2).tolist()
        assert rollout.final_env.tolist() == [0, 1] * 40
        expected = rollout.observation[rollout.final_time, rollout.final_env] + np.float32(0.5)
        np.testing.assert_allclose(rollout.final_observation, expected, rtol=1e-6)


def test_the_next_collection_overwrites_the_last_one_and_forgets_its_episodes() -> None:
    storage = opened(2, 1)
    for t in range(2):
        storage.add(step(t, {0: "terminated"}, n_envs=1))
    first = storage.latest()
    storage.add(step(7, n_envs=1))
    assert len(storage) == 0
    storage.add(step(8, {0: "truncated"}, n_envs=1))
    second = storage.latest()
    assert second.observation[:, 0, 0].tolist() == [7.0, 8.0]
    assert np.shares_memory(first.observation, second.observation)
    assert second.final_time.tolist() == [1]
    assert second.final_observation[:, 0].tolist() == [8.5]
    assert second.terminated.tolist() == [[False], [False]]


@pytest.mark.parametrize("steps", [1, 2])
def test_an_unfinished_collection_is_not_handed_out(steps: int) -> None:
    storage = opened(3, 1)
    for t in range(steps):
        storage.add(step(t, n_envs=1))
    with pytest.raises(RlkError, match=f"holds {steps} of 3 steps"):
        storage.latest()
    assert len(storage) == 0


def test_after_a_restart_the_next_step_is_the_first() -> None:
    storage = opened(2, 1)
    storage.add(step(0, {0: "terminated"}, n_envs=1))
    storage.restart()
    storage.add(step(5, n_envs=1))
    storage.add(step(6, n_envs=1))
    rollout = storage.latest()
    assert rollout.observation[:, 0, 0].tolist() == [5.0, 6.0]
    assert rollout.final_time.tolist() == []


def test_dict_observations_become_dicts_of_arrays() -> None:
    storage = opened(1, 2, DICT)
    observation = {
        "position": np.array([[1.0, 2.0], [3.0, 4.0]]),
        "room": np.array([5, 6]),
        "camera": np.full((2, 3, 3), 200, np.uint8),
    }
    final = {"position": np.array([8.0, 9.0]), "room": np.int64(3), "camera": np.full((3, 3), 9)}
    following = {key: value + 1 for key, value in observation.items()}
    storage.add(
        step(0, {1: "truncated"})._replace(
            observation=observation, next_observation=following, final_observation={1: final}
        )
    )
    rollout = storage.latest()
    assert rollout.observation["position"].tolist() == [[[1.0, 2.0], [3.0, 4.0]]]
    assert rollout.observation["position"].dtype == np.float32
    assert rollout.observation["room"].tolist() == [[5, 6]]
    assert rollout.observation["camera"].dtype == np.uint8
    assert rollout.observation["camera"].shape == (1, 2, 3, 3)
    assert rollout.next_observation["room"].tolist() == [6, 7]
    assert rollout.final_observation["position"].tolist() == [[8.0, 9.0]]
    assert rollout.final_observation["camera"].shape == (1, 3, 3)


def test_an_episode_that_ends_without_a_final_observation_is_refused() -> None:
    with pytest.raises(RlkError, match="environment 1 ended without a final observation"):
        opened().add(step(0, {1: "truncated"})._replace(final_observation={}))


def test_a_field_that_the_schema_asks_for_and_the_step_lacks_is_refused() -> None:
    with pytest.raises(RlkError, match=r"'value'.*It has: log_prob"):
        opened(value=Field(())).add(step(0, log_prob=np.zeros(2)))


def test_fields_that_nobody_asked_for_are_not_kept() -> None:
    storage = opened(1)
    storage.add(step(0, log_prob=np.zeros(2)))
    assert storage.latest().extras == {}


def test_a_space_that_is_no_array_is_refused_with_what_to_do() -> None:
    with pytest.raises(RlkError, match=r"Text.*FlattenObservation"):
        opened(space=gym.spaces.Text(5))


@pytest.mark.parametrize("before", [0, 1, 3, 4])
def test_a_restored_storage_goes_on_like_the_saved_one(before: int) -> None:
    def play(storages: list[RolloutStorage], times: range) -> None:
        for t in times:
            ends = {0: "terminated"} if t % 2 else {1: "truncated"}
            for storage in storages:
                storage.add(step(t, ends, value=np.full(2, t)))

    one, other = opened(3, value=Field(())), opened(3, value=Field(()))
    play([one], range(before))
    other.load_state_dict(copy.deepcopy(one.state_dict()))
    rest = 3 - before % 3
    play([one, other], range(before, before + rest))
    a, b = one.latest(), other.latest()
    for field in ("observation", "action", "reward", "terminated", "truncated", "next_observation"):
        np.testing.assert_array_equal(getattr(a, field), getattr(b, field))
    for field in ("final_time", "final_env", "final_observation"):
        np.testing.assert_array_equal(getattr(a, field), getattr(b, field))
    np.testing.assert_array_equal(a.extras["value"], b.extras["value"])


@pytest.mark.parametrize("steps", [9, 30])
def test_a_restored_list_of_many_final_observations_is_whole(steps: int) -> None:
    one, other = opened(steps), opened(steps)
    for t in range(steps):
        one.add(step(t, {0: "terminated"}))
    other.load_state_dict(copy.deepcopy(one.state_dict()))
    assert other.latest().final_time.tolist() == list(range(steps))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"n_steps": 1}, "rollout does not fit the run: n_steps is 2 or more there, 1 here"),
        ({"n_envs": 3}, r"int64\[2\] there.*int64\[3\] here"),
        ({"space": gym.spaces.Box(-1, 1, (5,))}, "observation"),
        ({"value": Field(())}, "extras.value is None there"),
    ],
)
def test_a_rollout_of_another_size_is_refused(changed: dict[str, Any], message: str) -> None:
    storage = opened()
    for t in range(2):
        storage.add(step(t))
    with pytest.raises(RlkError, match=message):
        opened(**changed).load_state_dict(storage.state_dict())


def test_the_component_names_what_it_is() -> None:
    assert isinstance(component, Component)
    assert (component.name, component.collects, component.config) == ("rollout", "on-policy", None)
    assert component.load() is RolloutStorage
