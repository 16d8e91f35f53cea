"""Prioritized replay: formulas by hand, a naive twin, and its place on a replay storage."""

from __future__ import annotations

import copy
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch

from rlk.component import Component
from rlk.errors import RlkError
from rlk.records import Batch, Schema, Step, Update
from rlk.required_methods import members, methods
from rlk.running.clock import Clock
from rlk_prioritized_replay.component import component
from rlk_prioritized_replay.config import PrioritizedReplayConfig
from rlk_prioritized_replay.storage import PrioritizedReplay
from rlk_replay.config import ReplayConfig
from rlk_replay.storage import Replay
from rlk_testing.contracts.storage.trajectory import schema_for


def built(
    buffer_size: int = 8, n_envs: int = 1, seed: int = 0, clock: Clock | None = None, **config: Any
) -> tuple[Replay, PrioritizedReplay]:
    base = Replay(ReplayConfig(buffer_size=buffer_size))
    schema = schema_for(
        gym.spaces.Box(-np.inf, np.inf, (1,)),
        gym.spaces.Discrete(2),
        n_envs,
        rng=np.random.default_rng(seed),
        clock=clock or Clock(1000),
    )
    base.open(schema)
    prioritized = PrioritizedReplay(PrioritizedReplayConfig(**config))
    prioritized.open(base, schema)
    base.decorate(prioritized)
    return base, prioritized


def fill(base: Replay, n: int, n_envs: int = 1, start: int = 0) -> None:
    for t in range(start, start + n):
        flags = np.zeros(n_envs, bool)
        observation = np.full((n_envs, 1), float(t))
        base.add(
            Step(
                observation,
                np.zeros(n_envs, int),
                np.full(n_envs, float(t)),
                flags,
                flags,
                observation + 1,
                {},
                {},
            )
        )


def learn(base: Replay, errors: dict[int, float]) -> None:
    """Feed TD errors back to these slots."""
    slots = np.array(list(errors))
    batch = base.fold(base.window(slots, 1))
    base.feedback(batch, Update(metrics={}, td_error=torch.tensor(list(errors.values()))))


def test_it_is_a_decorator_as_the_kernel_sees_it() -> None:
    assert methods("storages", ("choose",)) <= members(PrioritizedReplay)


def test_the_weights_are_those_of_the_paper_by_hand() -> None:
    base, prioritized = built(alpha=0.5, beta0=0.5, eps=0.25)
    fill(base, 3)
    learn(base, {0: 3.75, 1: -15.75, 2: 0.75})  # priorities 4, 16, 1; to the power of alpha 2, 4, 1
    index, weight = prioritized.choose(7)
    # Seven equal parts of a sum of 7: two in slot 0, four in slot 1, one in slot 2.
    assert index.tolist() == [0, 0, 1, 1, 1, 1, 2]
    n, probability = 3, np.array([2, 4, 1]) / 7
    by_hand = (n * probability) ** -0.5
    by_hand /= by_hand.max()
    np.testing.assert_allclose(weight, by_hand[index], rtol=1e-6)
    np.testing.assert_allclose(weight[[0, 2, 6]], [0.5**0.5, 0.5, 1.0], rtol=1e-6)
    assert weight.dtype == np.float32


def test_the_greatest_weight_is_that_of_the_whole_memory_not_of_the_batch() -> None:
    base, prioritized = built(alpha=1.0, beta0=1.0)
    fill(base, 2)
    learn(base, {0: 1e6, 1: 1.0})
    index, weight = prioritized.choose(4)
    assert index.tolist() == [0, 0, 0, 0]
    np.testing.assert_allclose(weight, 1e-6, rtol=1e-4)


@pytest.mark.parametrize("n_envs", [1, 3])
def test_the_same_uniform_numbers_give_the_same_indices_as_a_naive_running_sum(
    n_envs: int,
) -> None:
    base, _ = built(60, n_envs, seed=4, alpha=1.0, eps=1.0)
    twin_rng = np.random.default_rng(4)
    errors = np.random.default_rng(5)
    priorities = np.zeros(base.slots)
    highest = 1.0
    for t in range(50):  # wraps more than twice with three environments
        fill(base, 1, n_envs, t)
        row = t % (base.slots // n_envs)
        priorities[row * n_envs : (row + 1) * n_envs] = highest
        batch = base.sample(16)
        target = (np.arange(16) + twin_rng.random(16)) * (priorities.sum() / 16)
        running = np.cumsum(priorities)
        expected = [int((running <= one).sum()) for one in target]
        assert batch.index.tolist() == expected
        least = priorities[priorities > 0].min()
        by_hand = (least / priorities[expected]) ** 0.4
        np.testing.assert_allclose(batch.weight.numpy(), by_hand, rtol=1e-6)
        td_error = errors.integers(-9, 10, 16)
        base.feedback(batch, Update(metrics={}, td_error=torch.from_numpy(td_error).float()))
        for slot, error in zip(batch.index, td_error, strict=True):
            priorities[slot] = abs(error) + 1.0
        highest = max(highest, float(abs(td_error).max()) + 1.0)


def test_a_new_transition_gets_the_highest_priority_so_far_and_an_overwritten_slot_too() -> None:
    base, prioritized = built(3, alpha=0.5, eps=0.5)
    fill(base, 3)
    assert prioritized._tree.leaves.tolist() == [1.0, 1.0, 1.0]
    learn(base, {0: 15.5, 1: 3.5})  # priorities 16 and 4
    assert prioritized._tree.leaves.tolist() == [4.0, 2.0, 1.0]
    learn(base, {0: 0.5})
    fill(base, 2, start=3)
    assert prioritized._tree.leaves.tolist() == [4.0, 4.0, 1.0]


def test_of_a_transition_twice_in_a_batch_the_last_error_counts() -> None:
    base, prioritized = built(alpha=1.0, eps=0.5)
    fill(base, 2)
    batch = base.fold(base.window(np.array([1, 1]), 1))
    base.feedback(batch, Update(metrics={}, td_error=torch.tensor([8.0, 2.0])))
    assert prioritized._tree.leaves[:2].tolist() == [1.0, 2.5]


def test_beta_goes_to_one_over_the_run() -> None:
    clock = Clock(1000)
    _, prioritized = built(clock=clock, beta0=0.4)
    assert prioritized.beta() == 0.4
    clock.timesteps = 500
    assert prioritized.beta() == pytest.approx(0.7)
    assert prioritized.metrics() == {"train/priority_beta": prioritized.beta()}
    clock.timesteps = 1000
    assert prioritized.beta() == 1.0


def test_beta_goes_to_one_in_beta_iters_timesteps_whatever_the_length_of_the_run() -> None:
    for total in (10, 1000, 100_000):
        clock = Clock(total)
        _, prioritized = built(clock=clock, beta0=0.4, beta_iters=100)
        clock.timesteps = 50
        assert prioritized.beta() == pytest.approx(0.7)
        clock.timesteps = 300
        assert prioritized.beta() == 1.0


def test_the_weights_have_the_exponent_of_that_time() -> None:
    clock = Clock(1000)
    base, prioritized = built(clock=clock, alpha=1.0, beta0=0.5, eps=1.0)
    fill(base, 2)
    learn(base, {0: 15.0, 1: 0.0})  # priorities 16 and 1
    for timesteps, beta in ((0, 0.5), (500, 0.75), (1000, 1.0)):
        clock.timesteps = timesteps
        index, weight = prioritized.choose(17)
        assert index.tolist() == [0] * 16 + [1]
        np.testing.assert_allclose(weight, [*[16.0**-beta] * 16, 1.0], rtol=1e-6)


def test_alpha_of_zero_is_uniform() -> None:
    base, prioritized = built(4, alpha=0.0)
    fill(base, 4)
    learn(base, {0: 100.0})
    index, weight = prioritized.choose(8)
    assert index.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert weight.tolist() == [1.0] * 8


def test_slots_that_hold_nothing_yet_are_never_chosen() -> None:
    base, prioritized = built(5000)
    fill(base, 3)
    for _ in range(50):
        assert prioritized.choose(32)[0].max() <= 2


def test_errors_that_are_not_finite_change_no_priority() -> None:
    base, prioritized = built(4)
    fill(base, 4)
    before = prioritized._tree.leaves.tolist()
    for bad in (np.nan, np.inf):
        learn(base, {0: bad, 1: 5.0})
        assert prioritized._tree.leaves.tolist() == before
    fill(base, 1)
    assert prioritized._tree.leaves.tolist() == before


def test_an_update_without_td_error_is_refused() -> None:
    base, _ = built()
    fill(base, 1)
    with pytest.raises(RlkError, match="needs td_error"):
        base.feedback(base.sample(1), Update(metrics={}))


class TwoGoals:
    """A decorator that relabels, with three variants; it does nothing but have them."""

    variants = 3

    def open(self, base: Any, schema: Schema) -> None: ...
    def relabel(self, window: Any) -> Any:
        return window

    def added(self, slots: Any) -> None: ...
    def feedback(self, batch: Batch, update: Update) -> None: ...
    def state_dict(self) -> dict[str, Any]:
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None: ...


def test_a_priority_belongs_to_a_slot_and_its_variant() -> None:
    base, prioritized = built(2, alpha=1.0, eps=0.5)
    base.decorate(TwoGoals())
    fill(base, 2)
    assert prioritized._tree.leaves.tolist() == [1, 1, 0, 0, 0, 0]
    base.offer(np.array([2, 4]))  # both variants of slot 0
    assert prioritized._tree.leaves.tolist() == [1, 1, 1, 0, 1, 0]
    learn(base, {2: 4.5, 0: 1.5})
    assert prioritized._tree.leaves.tolist() == [2, 1, 5, 0, 1, 0]
    batch = base.sample(9)
    assert batch.index.tolist() == [0, 0, 1, 2, 2, 2, 2, 2, 4]
    assert batch.reward.tolist() == [0, 0, 1, 0, 0, 0, 0, 0, 0]
    fill(base, 1, start=2)  # overwrites slot 0: its variants go until they are offered again
    assert prioritized._tree.leaves.tolist() == [5, 1, 0, 0, 0, 0]


def test_variants_that_join_late_keep_the_priorities_there_are() -> None:
    base, prioritized = built(2, alpha=1.0, eps=0.5)
    fill(base, 2)
    learn(base, {1: 6.5})
    base.decorate(TwoGoals())
    fill(base, 1, start=2)
    assert prioritized._tree.leaves.tolist() == [7, 7, 0, 0, 0, 0]


@pytest.mark.parametrize("variants", [False, True])
def test_a_restored_storage_chooses_the_same_for_ever(variants: bool) -> None:
    def play(base: Replay, rounds: range) -> list[Any]:
        rng, seen = np.random.default_rng(rounds.start), []
        for t in rounds:
            fill(base, 1, 2, t)
            if variants:
                base.offer(base.slots + rng.integers(min(len(base), 6), size=2))
            batch = base.sample(8)
            seen += [batch.index.tolist(), batch.weight.tolist()]
            td_error = torch.from_numpy(rng.normal(size=8))
            base.feedback(batch, Update(metrics={}, td_error=td_error))
        return seen

    def new(seed: int) -> Replay:
        base, _ = built(5000, 2, seed=seed)
        if variants:
            base.decorate(TwoGoals())
        return base

    one = new(7)
    play(one, range(40))
    saved = copy.deepcopy(one.state_dict())
    other = new(8)
    other.load_state_dict(saved)
    other.schema.rng.bit_generator.state = one.schema.rng.bit_generator.state
    assert play(one, range(40, 60)) == play(other, range(40, 60))
    mine, restored = one.state_dict()["decorators"], other.state_dict()["decorators"]
    assert mine["choose"]["priorities"].tobytes() == restored["choose"]["priorities"].tobytes()
    assert mine["choose"]["highest"] == restored["choose"]["highest"]


@pytest.mark.parametrize(
    ("saved", "mine", "expected"),
    [
        (0.5, 1.0, [1.0, 4.0, 9.0]),
        (1.0, 0.5, [1.0, 2.0, 3.0]),
        (0.5, 0.0, [1.0, 1.0, 1.0]),
        (0.0, 0.5, [3.0, 3.0, 3.0]),  # forgotten: all get the highest
    ],
)
def test_with_another_alpha_the_priorities_stay(
    saved: float, mine: float, expected: list[float]
) -> None:
    base, _ = built(alpha=saved, eps=1e-9)
    fill(base, 3)
    learn(base, {0: 1.0, 1: 4.0, 2: 9.0})
    other, new = built(alpha=mine)
    other.load_state_dict(copy.deepcopy(base.state_dict()))
    assert new._tree.leaves[:4].tolist() == pytest.approx([*expected, 0.0])


@pytest.mark.parametrize(("saved", "mine"), [(0.5, 1.0), (0.5, 0.0), (0.0, 0.5)])
def test_what_cannot_be_chosen_cannot_be_with_another_alpha_either(
    saved: float, mine: float
) -> None:
    base, old = built(alpha=saved)
    fill(base, 3)
    old._tree.set(np.array([1]), 0.0)  # as a variant has it that was not offered yet
    other, new = built(alpha=mine)
    other.load_state_dict(copy.deepcopy(base.state_dict()))
    assert (new._tree.leaves[:3] > 0.0).tolist() == [True, False, True]


def test_what_is_restored_replaces_all_that_was_there() -> None:
    few, many = built(8), built(8)
    fill(few[0], 2)
    fill(many[0], 5)
    many[1].load_state_dict(few[1].state_dict())
    assert many[1]._tree.leaves.tolist() == [1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    assert many[1].choose(4)[0].tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize(
    "wrong",
    [
        *({"alpha": -0.1}, {"alpha": 4.1}, {"beta0": 1.5}, {"beta0": -0.1}, {"beta_iters": 0}),
        *({"eps": 0.0}, {"eps": 1e-31}, {"eps": 1e31}),
    ],
)
def test_settings_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        PrioritizedReplayConfig(**wrong)


@pytest.mark.parametrize(("eps", "error"), [(1e-30, 0.0), (1e30, 3e38)])
def test_at_the_ends_of_the_ranges_every_transition_can_be_chosen(eps: float, error: float) -> None:
    base, prioritized = built(alpha=4.0, eps=eps)
    fill(base, 8)
    learn(base, dict.fromkeys(range(8), error))
    index, weight = prioritized.choose(8)
    assert sorted(index) == list(range(8)) and weight.tolist() == [1.0] * 8


def test_the_component_names_what_it_is() -> None:
    assert isinstance(component, Component)
    assert component.name == "prioritized-replay"
    assert (component.stages, component.needs) == (("choose",), ("td_error",))
    assert component.load() is PrioritizedReplay
