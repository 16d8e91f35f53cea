"""The four stages of sampling, and what decorating storages are promised."""

from __future__ import annotations

import tracemalloc
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch

from rlk.errors import RlkError
from rlk.records import Array, Batch, Field, Schema, Step, Update
from rlk.required_methods import members, methods
from rlk_replay.config import ReplayConfig
from rlk_replay.protocol import ReplayStorage
from rlk_replay.storage import Replay
from rlk_replay.window import Window
from rlk_testing.contracts.storage.trajectory import schema_for

GAMMA = 0.5


def schema(**changes: Any) -> Schema:
    spaces = {
        "observation_space": gym.spaces.Box(-np.inf, np.inf, (2,), np.float64),
        "action_space": gym.spaces.Discrete(5),
    }
    return schema_for(**{**spaces, "gamma": GAMMA, **changes})


def step(t: int, ends: str = "", action: Any = None, extras: dict[str, Any] | None = None) -> Step:
    """Step t of a single environment: observation t, reward 10 t, next observation t + 1."""
    return Step(
        observation=np.full((1, 2), float(t)),
        action=np.array([t % 5]) if action is None else action,
        reward=np.array([10.0 * t]),
        terminated=np.array([ends == "terminated"]),
        truncated=np.array([ends == "truncated"]),
        next_observation=np.full((1, 2), t + 1.0),
        final_observation={0: np.full(2, t + 0.5)} if ends else {},
        extras=extras or {},
    )


def filled(n: int = 6, ends: dict[int, str] | None = None, **changes: Any) -> Replay:
    storage = Replay(ReplayConfig(buffer_size=100))
    storage.open(schema(**changes))
    for t in range(n):
        storage.add(step(t, (ends or {}).get(t, "")))
    return storage


class Takes:
    """A decorator that records what it is told."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def open(self, base: Any, schema: Schema) -> None:
        self.base = base

    def added(self, slots: Array) -> None:
        self.told.append(slots.tolist())

    def feedback(self, batch: Batch, update: Update) -> None:
        self.told.append(update.td_error)

    def state_dict(self) -> dict[str, Any]:
        return {"told": list(self.told)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.told = state["told"]


class FirstAndLast(Takes):
    def choose(self, n: int) -> tuple[Array, Array]:
        return np.array([0, len(self.base) - 1]), np.array([0.25, 0.75], np.float32)


class FirstAndLastAsOffered(FirstAndLast):
    def __init__(self) -> None:
        super().__init__()
        self.offers: list[Any] = []

    def offered(self, index: Array) -> None:
        self.offers.append(index.tolist())


class TwoSteps(Takes):
    """n-step as a plugin would write it: takes `window` and `fold`."""

    def window(self, index: Array, length: int) -> Window:
        return self.base.window(index, 2)

    def fold(self, window: Window) -> Batch:
        many = window.length > 1
        columns = np.arange(len(many))
        reward = window.reward[0] + np.where(many, GAMMA * window.reward[1], 0).astype(np.float32)
        gone = window.terminated[window.length - 1, columns]
        discount = (GAMMA**window.length * ~gone).astype(np.float32)
        return self.base.batch(window, reward, discount, window.length)


class ObservationOfTheEnd(Takes):
    """Relabels, with two variants: variant 1 sees the end of its episode."""

    variants = 2

    def relabel(self, window: Window) -> Window:
        (changed,) = (window.index >= self.base.slots).nonzero()
        slot = window.slot[changed]
        ends = self.base.following(slot, self.base.steps_to_end(slot))
        window.observation[:, changed] = self.base.observation_after(ends)
        return window


def decorated(storage: Replay, *decorators: Takes) -> Replay:
    for decorator in decorators:
        decorator.open(storage, storage.schema)
        storage.decorate(decorator)
    return storage


def test_it_is_a_replay_storage_as_algorithms_and_the_kernel_see_it() -> None:
    assert isinstance(Replay(ReplayConfig()), ReplayStorage)
    assert methods("storages", ("choose",)) <= members(FirstAndLast)


def test_a_batch_of_discrete_actions_holds_int64_and_float32() -> None:
    batch = filled().sample(4)
    assert batch.action.dtype == torch.int64 and batch.action.shape == (4,)
    assert batch.observation.dtype == torch.float32 and batch.observation.shape == (4, 2)
    assert {batch.reward.dtype, batch.discount.dtype, batch.weight.dtype} == {torch.float32}
    assert batch.index.dtype == np.int64


def test_a_batch_of_box_actions_holds_float32_rows() -> None:
    storage = filled(0, action_space=gym.spaces.Box(-1, 1, (3,), np.float64))
    storage.add(step(0, action=np.array([[0.5, -1.0, 0.25]])))
    batch = storage.sample(2)
    assert batch.action.dtype == torch.float32
    assert batch.action.tolist() == [[0.5, -1.0, 0.25]] * 2


def test_observations_of_a_dict_with_one_key_are_dicts() -> None:
    space = gym.spaces.Dict(place=gym.spaces.Box(-np.inf, np.inf, (2,), np.float64))
    storage = filled(0, observation_space=space)
    alone = step(0)
    seen, after = {"place": alone.observation}, {"place": alone.next_observation}
    storage.add(alone._replace(observation=seen, next_observation=after))
    batch = storage.sample(2)
    assert batch.observation["place"].tolist() == [[0.0, 0.0]] * 2
    assert batch.next_observation["place"].tolist() == [[1.0, 1.0]] * 2


def test_tensors_of_a_batch_are_contiguous_and_none_shares_memory_with_the_storage() -> None:
    storage = filled(extras={}, ends={3: "terminated"})
    before = storage.fold(storage.window(np.arange(6), 1))
    for tensor in (
        before.observation,
        before.next_observation,
        before.action,
        before.reward,
        before.discount,
        before.weight,
    ):
        assert tensor.is_contiguous()
        tensor.zero_()
    after = storage.fold(storage.window(np.arange(6), 1))
    assert after.weight.tolist() == [1.0] * 6
    assert after.discount.tolist() == [GAMMA, GAMMA, GAMMA, 0.0, GAMMA, GAMMA]
    assert after.reward.tolist() == [0.0, 10.0, 20.0, 30.0, 40.0, 50.0]
    assert after.next_observation[:, 0].tolist() == [1.0, 2.0, 3.0, 3.5, 5.0, 6.0]
    storage.sample(6).weight.zero_()
    assert storage.sample(6).weight.tolist() == [1.0] * 6


def test_termination_ends_the_value_and_truncation_does_not() -> None:
    storage = filled(3, ends={0: "terminated", 1: "truncated"})
    batch = storage.fold(storage.window(np.arange(3), 1))
    assert batch.discount.tolist() == [0.0, GAMMA, GAMMA]


def test_more_environments_share_the_buffer_size() -> None:
    storage = Replay(ReplayConfig(buffer_size=10))
    storage.open(schema(n_envs=4))
    assert storage.slots == 8
    storage.open(schema(n_envs=40))
    assert storage.slots == 40  # one step is the least


def test_sampling_from_nothing_says_so() -> None:
    with pytest.raises(RlkError, match="empty"):
        filled(0).sample(1)


def test_an_episode_that_ends_without_a_final_observation_is_refused() -> None:
    storage = filled(0)
    with pytest.raises(RlkError, match="environment 0 ended without a final observation"):
        storage.add(step(0, "terminated")._replace(final_observation={}))


def test_a_field_that_the_schema_asks_for_and_the_step_lacks_is_refused() -> None:
    storage = filled(0, extras={"log_prob": Field(())})
    with pytest.raises(RlkError, match=r"'log_prob'.*It has: value"):
        storage.add(step(0, extras={"value": np.zeros(1)}))


def test_a_space_that_is_no_array_is_refused_with_what_to_do() -> None:
    text = gym.spaces.Dict({"name": gym.spaces.Text(5)})
    with pytest.raises(RlkError, match=r"key 'name'.*FlattenObservation"):
        filled(0, observation_space=text)


def test_the_same_stream_samples_the_same_transitions() -> None:
    assert filled().sample(20).index.tolist() == filled().sample(20).index.tolist()


def test_a_window_stops_with_its_episode_and_with_the_newest_step() -> None:
    storage = filled(6, ends={2: "truncated"})
    window = storage.window(np.array([0, 2, 3, 5]), 4)
    assert window.length.tolist() == [3, 1, 3, 1]
    assert window.observation[:4, 0, 0].tolist() == [0.0, 1.0, 2.0, 2.5]
    assert window.observation[:2, 1, 0].tolist() == [2.0, 2.5]
    assert window.observation[:4, 2, 0].tolist() == [3.0, 4.0, 5.0, 6.0]
    assert window.observation[:2, 3, 0].tolist() == [5.0, 6.0]
    assert window.truncated[2, 0] and not window.truncated[:2, 0].any()


def test_a_reset_that_shows_the_same_observation_is_known_only_when_it_is_said() -> None:
    storage = filled(3)
    storage.interrupt()
    storage.interrupt()
    storage.add(step(3))
    assert storage.window(np.array([1]), 4).length.tolist() == [2]
    assert storage.steps_from_start(np.array([3])).tolist() == [0]
    batch = storage.fold(storage.window(np.array([2]), 1))
    assert batch.next_observation[0, 0].item() == 3.0
    assert batch.discount[0].item() == GAMMA


def test_a_reset_that_is_said_leaves_the_final_observation_of_the_oldest_step() -> None:
    storage = Replay(ReplayConfig(buffer_size=3))
    storage.open(schema())
    for t in range(5):
        storage.add(step(t, "truncated" if t == 2 else ""))
    storage.interrupt()
    oldest = np.array([2])  # steps 3 and 4 were written over 0 and 1
    assert storage.observation_after(oldest)[0].tolist() == [2.5, 2.5]


def test_a_not_a_number_in_an_observation_does_not_look_like_a_reset() -> None:
    storage = filled(0)
    for t in range(2):
        nan = np.full((1, 2), np.nan)
        storage.add(step(t)._replace(observation=nan, next_observation=nan))
    assert storage.window(np.array([0]), 2).length.tolist() == [2]


def test_slots_are_counted_along_one_environment() -> None:
    storage = Replay(ReplayConfig(buffer_size=6))
    storage.open(schema(n_envs=2))
    assert storage.following(np.array([0, 1, 5]), 1).tolist() == [2, 3, 1]
    assert storage.following(np.array([0, 1]), np.array([-1, 2])).tolist() == [4, 5]


def test_looking_at_a_few_slots_copies_nothing_of_the_others() -> None:
    storage = Replay(ReplayConfig(buffer_size=50_000))
    storage.open(schema())
    for t in range(6):
        storage.add(step(t, "terminated" if t == 3 else ""))
    slot = np.array([0, 3, 5])
    tracemalloc.start()
    try:
        assert storage.steps_from_start(slot).tolist() == [0, 3, 1]
        assert storage.steps_to_end(slot).tolist() == [3, 0, 0]
        assert storage.is_over(slot).tolist() == [True, True, False]
        assert storage.number(slot).tolist() == [0, 3, 5]
        assert storage.observation_after(slot)[:, 0].tolist() == [1.0, 3.5, 6.0]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 50_000  # one number for every slot would be 400,000 bytes


def step_of_two() -> Step:
    """A step of two environments, of which none ends an episode."""
    return Step(
        observation=np.zeros((2, 2)),
        action=np.zeros(2, int),
        reward=np.zeros(2),
        terminated=np.zeros(2, bool),
        truncated=np.zeros(2, bool),
        next_observation=np.ones((2, 2)),
        final_observation={},
        extras={},
    )


def test_a_number_tells_whether_a_slot_was_overwritten() -> None:
    storage = Replay(ReplayConfig(buffer_size=6))
    storage.open(schema(n_envs=2))
    for _ in range(4):
        storage.add(step_of_two())
    # Three rows of two: the fourth step is in row 0, and holds transitions 6 and 7.
    assert storage.number(np.arange(6)).tolist() == [6, 7, 2, 3, 4, 5]


def test_who_takes_choose_decides_index_and_weight() -> None:
    batch = decorated(filled(), FirstAndLast()).sample(2)
    assert batch.index.tolist() == [0, 5]
    assert batch.weight.tolist() == [0.25, 0.75]
    assert batch.reward.tolist() == [0.0, 50.0]


def test_stages_of_different_decorators_work_together_in_any_order_of_joining() -> None:
    ends = {1: "terminated", 3: "truncated"}
    for order in (0, 1):
        parts = [FirstAndLast(), TwoSteps()]
        storage = decorated(filled(5, ends), *(parts if order else parts[::-1]))
        batch = storage.sample(2)
        # 0 and 10, then the end: 0 + 0.5 * 10; and the newest step alone.
        assert batch.reward.tolist() == [5.0, 40.0]
        assert batch.discount.tolist() == [0.0, GAMMA]
        assert batch.next_observation[:, 0].tolist() == [1.5, 5.0]
        assert batch.weight.tolist() == [0.25, 0.75]


def test_n_steps_end_at_a_truncation_and_bootstrap_from_its_final_observation() -> None:
    storage = decorated(filled(5, {3: "truncated"}), TwoSteps())
    window = storage.window(np.array([1, 2, 3]), 2)
    batch = TwoSteps.fold(storage._stages.decorators[0], window)
    assert batch.reward.tolist() == [10.0 + 0.5 * 20.0, 20.0 + 0.5 * 30.0, 30.0]
    assert batch.discount.tolist() == [GAMMA**2, GAMMA**2, GAMMA]
    assert batch.next_observation[:, 0].tolist() == [3.0, 3.5, 3.5]


def test_of_several_steps_a_batch_has_the_fields_of_the_first() -> None:
    storage = decorated(filled(0, extras={"log_prob": Field(())}), TwoSteps())
    for t in range(4):
        storage.add(step(t, extras={"log_prob": np.array([-1.0 * t])}))
    batch = TwoSteps.fold(storage._stages.decorators[0], storage.window(np.array([0, 1]), 2))
    assert batch.extras["log_prob"].tolist() == [0.0, -1.0]


def test_variants_are_chosen_as_often_as_the_transition_itself() -> None:
    storage = decorated(filled(4, {3: "terminated"}), ObservationOfTheEnd())
    batch = storage.sample(4000)
    chosen = np.bincount(batch.index // storage.slots, minlength=2)
    assert storage.variants == 2
    assert abs(int(chosen[0]) - 2000) < 300
    seen_end = batch.observation[:, 0].numpy() == 3.5
    np.testing.assert_array_equal(seen_end, batch.index >= storage.slots)
    assert (batch.reward.numpy() == 10.0 * (batch.index % storage.slots)).all()


def test_an_offer_of_variants_reaches_who_chooses_and_nobody_else() -> None:
    chooses, relabels = FirstAndLastAsOffered(), ObservationOfTheEnd()
    storage = decorated(filled(2), chooses, relabels)
    storage.offer(np.array([100, 101]))
    assert chooses.offers == [[100, 101]]
    assert chooses.told == relabels.told == [[0, 1]]


def test_what_chooses_need_not_hear_of_offers() -> None:
    chooses = FirstAndLast()
    decorated(filled(2), chooses, ObservationOfTheEnd()).offer(np.array([100, 101]))
    assert chooses.told == [[0, 1]]


def test_decorators_are_told_of_new_transitions_and_of_updates() -> None:
    storage = Replay(ReplayConfig(buffer_size=4))
    storage.open(schema(n_envs=2))
    decorated(storage, chooses := FirstAndLast())
    for _ in range(3):
        storage.add(step_of_two())
    batch = storage.sample(2)
    storage.feedback(batch, Update(metrics={}, td_error="the error"))  # type: ignore[arg-type]
    assert chooses.told == [[0, 1], [2, 3], [0, 1], "the error"]


def test_two_decorators_for_one_stage_are_refused() -> None:
    with pytest.raises(RlkError, match=r"FirstAndLast and FirstAndLast both take .* 'choose'"):
        decorated(filled(), FirstAndLast(), FirstAndLast())


def test_a_decorator_of_no_stage_is_refused() -> None:
    with pytest.raises(RlkError, match="Takes takes none of the sampling stages"):
        decorated(filled(), Takes())


@pytest.mark.parametrize("wrong", [0, -1])
def test_a_buffer_size_below_one_is_refused(wrong: int) -> None:
    with pytest.raises(ValueError, match="buffer_size"):
        ReplayConfig(buffer_size=wrong)
