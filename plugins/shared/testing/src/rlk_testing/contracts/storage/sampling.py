"""The part of a storage's contract that is about sampling from replay."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import gymnasium as gym
import numpy as np
import pytest

from rlk.errors import RlkError
from rlk.records import Array, Update
from rlk.spaces import map_observation
from rlk_networks.observations import as_tensor
from rlk_testing.contracts.shared.applies import applies
from rlk_testing.contracts.shared.contract import may_have
from rlk_testing.contracts.storage.suite import StorageSuite
from rlk_testing.contracts.storage.trajectory import ACTIONS, SPACES, Trajectory, at, equal, numbers
from rlk_testing.tools.global_generators import global_generators_untouched
from rlk_testing.tools.states import same
from rlk_testing.tools.watched_updates import tensors_of

if TYPE_CHECKING:
    from rlk.protocols import State
    from rlk.records import Batch

_GAMMA = 0.9
_TENSORS = ("observation", "action", "reward", "next_observation", "discount", "weight")
_RAW = ("observation", "action", "next_observation")


@applies(lambda suite: suite.record().collects in ("off-policy", "offline"))
class SamplingChecks(StorageSuite):
    """Checks for storages that are sampled from."""

    def test_replay_gives_back_exactly_what_was_added(self) -> None:
        for name, space in SPACES.items():
            trajectory = Trajectory(space, ACTIONS["discrete"])
            try:
                storage = self.opened(trajectory, gamma=_GAMMA)
            except RlkError:
                assert name != "float32", "it must take observations that are a vector of float32"
                continue  # a storage may refuse a space, if it says so when it is opened
            for step in trajectory.steps(3 * self.capacity):
                storage.add(step)
            check_batch(storage.sample(500), trajectory)

    def test_replay_gives_back_actions_of_every_kind(self) -> None:
        for space in ACTIONS.values():
            trajectory = Trajectory(SPACES["float32"], space)
            storage = self.opened(trajectory, gamma=_GAMMA)
            for step in trajectory.steps(12):
                storage.add(step)
            check_batch(storage.sample(200), trajectory)

    def test_replay_samples_the_newest_transition_and_those_that_ended(self) -> None:
        for steps in (1, 2, 7, self.capacity // 2, self.capacity // 2 + 1):
            storage, trajectory = self.filled(steps)
            batch = storage.sample(40 * len(storage))
            check_batch(batch, trajectory)
            found = set(numbers(batch.reward).tolist())
            assert len(found) == len(storage), (
                f"after {steps} steps it samples {len(found)} transitions; {len(storage)} are kept"
            )
            newest = set(range(len(trajectory.seen) - len(storage), len(trajectory.seen)))
            assert found == newest or not self.keeps_newest, (
                f"after {steps} steps it never sampled {sorted(newest - found)} and did sample "
                f"{sorted(found - newest)}"
            )

    def test_replay_keeps_the_newest_transitions_and_no_more_than_it_was_told(self) -> None:
        storage, trajectory = self.filled(3 * self.capacity)
        if getattr(self.config(), "buffer_size", None) == self.capacity:
            assert len(storage) == self.capacity
        found = set(numbers(storage.sample(1000).reward).tolist())
        assert len(found) <= len(storage), f"it samples {len(found)} of {len(storage)} transitions"
        assert min(found) >= len(trajectory.seen) - len(storage) or not self.keeps_newest

    def test_replay_samples_uniformly_unless_a_decorator_chooses(self) -> None:
        storage, trajectory = self.filled(10)
        count = 20 * 2000
        found = np.bincount(numbers(storage.sample(count).reward), minlength=len(trajectory.seen))
        # Binomial with n = 40,000 and p = 1/20: 5 standard deviations are 218.
        assert np.abs(found - count / len(storage)).max() < 5 * np.sqrt(count * 0.05 * 0.95)

    def test_replay_batches_have_the_shapes_and_types_of_the_record(self) -> None:
        import torch

        storage, _ = self.filled(10)
        batch = storage.sample(6)
        assert batch.observation.shape == batch.next_observation.shape == (6, 3)
        assert batch.observation.dtype == torch.float32
        for name in ("reward", "discount", "weight"):
            value = getattr(batch, name)
            assert value.shape == (6,) and value.dtype == torch.float32, (
                f"{name} is {value.dtype}{value.shape}"
            )
        assert batch.action.shape == (6,) and batch.action.dtype == torch.int64
        assert np.shape(batch.index) == (6,) and np.asarray(batch.index).dtype == np.int64
        assert bool(((batch.weight > 0) & (batch.weight <= 1.0 + 1e-6)).all()), (
            "weights are ones, or the importance weights of a storage that does not sample "
            f"uniformly, above 0 and at most 1: {batch.weight.tolist()}"
        )

    def test_replay_gives_back_the_types_of_what_was_added(self) -> None:
        """Only float64 becomes float32; of actions, whole numbers may become wider ones."""
        for action in ACTIONS.values():
            for space in SPACES.values():
                trajectory = Trajectory(space, action)
                try:
                    storage = self.opened(trajectory)
                except RlkError:
                    continue
                for step in trajectory.steps(3):
                    storage.add(step)
                check_types(storage.sample(4), trajectory)

    def test_replay_batches_are_on_the_device_of_the_run(self) -> None:
        """Tried with the device "meta", where tensors have no numbers."""
        import torch

        for name in ("float32", "dict"):
            trajectory = Trajectory(SPACES[name], gym.spaces.Discrete(4))
            try:
                storage = self.opened(trajectory, device=torch.device("meta"))
            except RlkError:
                continue
            for step in trajectory.steps(12):
                storage.add(step)
            check_device(storage.sample(8), "meta")

    def test_replay_keeps_complete_collections_where_a_later_one_is_cut_short(self) -> None:
        storage, trajectory = self.filled(2 * self.n_steps)
        before = len(storage)
        for step in trajectory.steps(1):
            storage.add(step)
        storage.restart()
        assert len(storage) >= before, (
            f"restart() leaves {len(storage)} of {before} transitions: forget the unfinished "
            "collection at the most"
        )

    def test_replay_gives_the_same_transition_the_same_index(self) -> None:
        storage, _ = self.filled(12)
        batch = storage.sample(500)
        pairs = set(zip(batch.index.tolist(), batch.reward.tolist(), strict=True))
        assert len(pairs) == len({i for i, _ in pairs}) == len({r for _, r in pairs})

    def test_replay_batches_stay_as_they_are_while_more_is_added(self) -> None:
        storage, trajectory = self.filled(12)
        batch = storage.sample(32)
        before = tensors_of(batch)
        for step in trajectory.steps(2 * self.capacity):
            storage.add(step)
            storage.sample(32)
        after = tensors_of(batch)
        changed = [name for name in before if not same(before[name], after[name])]
        assert not changed, (
            f"later steps or samples change {changed} of a batch: it must hold copies, not views "
            "of the storage's memory"
        )

    def test_replay_gives_the_same_batches_whatever_is_written_into_earlier_ones(self) -> None:
        storage, _ = self.filled(12, seed=1)
        twin, _ = self.filled(12, seed=1)
        for _ in range(3):
            batch, expected = storage.sample(32), twin.sample(32)
            for name in _TENSORS:
                found = getattr(batch, name)
                assert found.equal(getattr(expected, name)), f"{name} is what was written earlier"
                found.fill_(9)

    def test_replay_draws_from_its_own_stream_alone(self) -> None:
        storage, _ = self.filled(12, seed=1)
        twin, _ = self.filled(12, seed=1)
        other, _ = self.filled(12, seed=2)
        with global_generators_untouched():
            batch = storage.sample(64)
        assert batch.reward.equal(twin.sample(64).reward), "the same stream gives other samples"
        assert not batch.reward.equal(other.sample(64).reward), (
            "another stream gives the same samples"
        )

    def test_replay_goes_on_after_loading_as_it_would_have_without(self) -> None:
        for steps in (3, self.capacity + 3):
            rng, rng_of_twin = np.random.default_rng(0), np.random.default_rng(0)
            trajectory = Trajectory(SPACES["float32"], gym.spaces.Discrete(4))
            storage = self.opened(trajectory, rng=rng)
            for step in trajectory.steps(steps):
                storage.add(step)
            twin = self.opened(trajectory, rng=rng_of_twin)
            saved = copy.deepcopy(storage.state_dict())
            given = copy.deepcopy(saved)
            twin.load_state_dict(given)
            rng_of_twin.bit_generator.state = rng.bit_generator.state  # as a checkpoint restores it
            for step in trajectory.steps(4):
                storage.add(step)
                twin.add(step)
                one, two = storage.sample(64), twin.sample(64)
                assert one.reward.equal(two.reward) and one.next_observation.equal(
                    two.next_observation
                )
                check_batch(two, trajectory)
            assert same(given, saved), (
                "steps after load_state_dict have changed the state that it was given, which "
                "another agent may load too: copy its arrays into your own"
            )

    def test_replay_takes_feedback_without_complaint(self) -> None:
        storage, trajectory = self.filled(6)
        batch = storage.sample(4)
        storage.feedback(batch, Update({}, td_error=batch.reward.clone()))
        storage.feedback(batch, Update({}))
        check_batch(storage.sample(100), trajectory)

    @applies(lambda suite: may_have(suite, "decorate"))
    def test_a_decorator_is_told_of_all_that_is_stored_whenever_it_joins(self) -> None:
        told: dict[str, list[int]] = {}
        for joins in ("before the first step", "later", "after its state was loaded"):
            storage, trajectory = self.filled(0)
            decorator = Told()
            if joins == "before the first step":
                storage.decorate(decorator)
            for step in trajectory.steps(self.capacity + 3):  # it is full, and begins again
                storage.add(step)
            if joins == "later":
                storage.decorate(decorator)
            if joins == "after its state was loaded":
                saved = copy.deepcopy(storage.state_dict())
                storage, _ = self.filled(0)
                storage.decorate(decorator)
                storage.load_state_dict(saved)
            told[joins] = decorator.slots
            untold = sorted({*range(len(storage))} - {*decorator.slots})
            assert not untold, (
                f"a decorator that joins {joins} is not told of the transitions in the slots "
                f"{untold}: call its added (rlk.protocols.Decorator), or it never chooses them"
            )
            assert decorator.slots == told["before the first step"], (
                f"a decorator that joins {joins} is told of slots in another order than that of "
                "their age: call its added with those of the oldest step first"
            )

    @applies(lambda suite: may_have(suite, "decorate"))
    def test_a_second_decorator_of_the_same_stage_is_refused(self) -> None:
        storage, _ = self.filled(2)
        storage.decorate(Told())
        with pytest.raises(RlkError, match="stage"):
            storage.decorate(Told())

    def test_an_empty_replay_refuses_to_be_sampled(self) -> None:
        storage, _ = self.filled(0)
        with pytest.raises(RlkError, match="empty"):
            storage.sample(1)

    def test_replay_serves_one_environment_and_many(self) -> None:
        for n_envs in (1, 5):
            trajectory = Trajectory(SPACES["float32"], gym.spaces.Discrete(4), n_envs=n_envs)
            storage = self.opened(trajectory, gamma=0.5)
            for step in trajectory.steps(self.capacity):
                storage.add(step)
            assert len(storage) % n_envs == 0
            check_batch(storage.sample(200), trajectory, gamma=0.5)


class Told:
    """A decorator that takes the stage `choose`, and keeps the slots as it was told of them."""

    def __init__(self) -> None:
        self.slots: list[int] = []

    def added(self, slots: Array) -> None:
        new = slots.tolist()
        self.slots = [slot for slot in self.slots if slot not in new] + new

    def choose(self, n: int) -> tuple[Array, Array]:
        return np.full(n, max(self.slots)), np.ones(n, np.float32)

    def feedback(self, batch: Batch, update: Update) -> None:
        """It has no priorities to change."""

    def state_dict(self) -> State:
        return {"slots": self.slots}

    def load_state_dict(self, state: State) -> None:
        self.slots = list(state["slots"])


def check_batch(batch: Batch, trajectory: Trajectory, gamma: float = _GAMMA) -> None:
    """Raises AssertionError if a row is not the transition that its reward identifies."""
    observation = map_observation(np.asarray, batch.observation)
    following = map_observation(np.asarray, batch.next_observation)
    for row, number in enumerate(numbers(batch.reward.numpy())):
        seen = trajectory.seen[number]
        assert equal(at(observation, row), seen.observation), f"observation of transition {number}"
        assert equal(batch.action[row].numpy(), seen.action), f"action of transition {number}"
        ended = (
            "on which its episode ended" if seen.terminated or seen.truncated else "in the middle"
        )
        assert equal(at(following, row), seen.next_observation), (
            f"next_observation of transition {number}, {ended}"
        )
        discount = 0.0 if seen.terminated else gamma
        assert abs(float(batch.discount[row]) - discount) < 1e-6, (
            f"discount of transition {number} is {float(batch.discount[row])}, must be {discount}: "
            f"0 where an "
            "episode terminated, gamma where it was truncated"
        )
        assert float(batch.extras["log_prob"][row]) == seen.log_prob, (
            f"extras of transition {number}"
        )


def check_types(batch: Batch, trajectory: Trajectory) -> None:
    """Raises AssertionError if a tensor of a batch has not the type of what was added."""
    seen = trajectory.seen[0]
    for name in _RAW:
        found, expected = getattr(batch, name), as_tensor(getattr(seen, name))
        if not isinstance(expected, dict):
            found, expected = {"": found}, {"": expected}
        for key, part in expected.items():
            dtype = found[key].dtype
            may_be_wider = name == "action" and not part.is_floating_point()
            is_whole = not dtype.is_floating_point and not dtype.is_complex
            assert dtype == part.dtype or (may_be_wider and is_whole), (
                f"{name}{key and f'[{key!r}]'} of a batch is {dtype}, and {part.dtype} was added"
            )


def check_device(batch: Batch, device: str) -> None:
    """Raises AssertionError if a tensor of a batch is elsewhere."""
    for name, value in tensors_of(batch).items():
        for part in value.values() if isinstance(value, dict) else [value]:
            assert isinstance(part, np.ndarray) or part.device.type == device, (
                f"{name} of a batch is on {part.device.type}: make it on schema.device"
            )
