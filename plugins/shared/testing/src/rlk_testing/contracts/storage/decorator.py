"""The contract of a decorating storage, which takes over some stages of a replay's sampling."""

from __future__ import annotations

import copy
from typing import Any, ClassVar

import attrs
import gymnasium as gym
import numpy as np

from rlk import settings
from rlk.component import STAGES
from rlk.protocols import State
from rlk.records import Array, Batch, Schema, Update
from rlk.spaces import map_observation
from rlk_testing.contracts.shared.applies import applies
from rlk_testing.contracts.shared.contract import Contract
from rlk_testing.contracts.storage.trajectory import SPACES, Trajectory, at, equal, schema
from rlk_testing.tools.global_generators import global_generators_untouched
from rlk_testing.tools.states import plain, same
from rlk_testing.tools.watched_updates import tensors_of

_GAMMA = 0.9


class DecoratorContract(Contract):
    """What every decorating storage must do.

    Attributes:
        base: the replay storage that it decorates here. capacity: transitions that this one keeps.
        observation: key of the observation space in `SPACES` of `trajectory.py`.
    """

    kind = "storages"
    base: ClassVar[str] = "replay"
    capacity: ClassVar[int] = 40
    observation: ClassVar[str] = "float32"

    def trajectory(self, **keywords: Any) -> Trajectory:
        """The experience for these checks; override it if observations must have a special form."""
        return Trajectory(SPACES[self.observation], gym.spaces.Discrete(4), **keywords)

    def new_base(self) -> Any:
        """The base storage, not yet opened."""
        entry = self.kernel().registries.storages.get(self.base)
        record = entry.component()
        if record.config is None:
            return record.load()()
        names = {field.name for field in attrs.fields(record.config)}
        size = {"buffer_size": self.capacity} if "buffer_size" in names else {}
        return record.load()(settings.structure(record.config, size, entry.title))

    def stack(self, steps: int, *, seed: int = 0, **keywords: Any) -> tuple[Any, Any, Trajectory]:
        """(base, decorator, trajectory) after that many vector steps."""
        base, decorator, trajectory = self.new_base(), self.made(), self.trajectory(**keywords)
        opened = schema(trajectory, gamma=_GAMMA, seed=seed)
        base.open(opened)
        decorator.open(base, opened)
        base.decorate(decorator)
        for step in trajectory.steps(steps):
            base.add(step)
        return base, decorator, trajectory

    def test_it_has_a_method_for_every_stage_that_it_declares_and_for_no_other(self) -> None:
        made, declared = self.made(), self.record().stages
        assert declared, "Component(stages=…) is empty: a base storage has the StorageContract"
        methods = tuple(stage for stage in STAGES if hasattr(made, stage))
        assert set(methods) == set(declared), f"it has methods {methods} and declares {declared}"

    def test_what_it_needs_is_what_some_update_could_report(self) -> None:
        known = set(Update._fields) - {"metrics"}
        strange = set(self.record().needs) - known
        assert not strange, f"no update reports {strange}; an Update has {sorted(known)}"

    def test_batches_have_the_shapes_and_types_of_the_record(self) -> None:
        import torch

        base, _, _ = self.stack(12)
        batch = base.sample(6)
        for name in ("reward", "discount", "weight"):
            value = getattr(batch, name)
            assert value.shape == (6,) and value.dtype == torch.float32, (
                f"{name} is {value.dtype} {list(value.shape)}, not torch.float32 [6]"
            )
        assert len(batch.action) == 6 and np.asarray(batch.index).shape == (6,)
        assert bool(((batch.discount >= 0) & (batch.discount <= 1)).all())

    def test_weights_are_positive_and_finite_and_at_most_one(self) -> None:
        base, _, _ = self.stack(self.capacity)
        for _ in range(5):
            batch = base.sample(16)
            assert bool(((batch.weight > 0) & (batch.weight <= 1.0 + 1e-6)).all()), (
                f"weights must be above 0 and at most 1: {batch.weight.tolist()}"
            )
            base.feedback(batch, update_for(batch))

    def test_observations_and_actions_are_of_transitions_that_are_stored(self) -> None:
        base, _, trajectory = self.stack(2 * self.capacity)
        kept = trajectory.seen[-len(base) :]
        for _ in range(4):
            batch = base.sample(32)
            self.check(batch, kept)
            base.feedback(batch, update_for(batch))

    def check(self, batch: Batch, kept: list[Any]) -> None:
        """Raises AssertionError if a row is not stored; override it if observations are changed."""
        observed = map_observation(np.asarray, batch.observation)
        for row in range(len(batch.action)):
            one, action = at(observed, row), batch.action[row].numpy()
            found = any(
                equal(one, seen.observation) and equal(action, seen.action) for seen in kept
            )
            assert found, f"row {row} is not a transition that is stored: {one}, {action}"

    @applies(lambda suite: "relabel" not in suite.record().stages)
    def test_returns_are_of_steps_that_followed_in_the_episode(self) -> None:
        base, _, trajectory = self.stack(2 * self.capacity)
        for _ in range(4):
            batch = base.sample(32)
            for row in range(len(batch.action)):
                self.check_return(batch, row, trajectory, len(trajectory.seen) - len(base))
            base.feedback(batch, update_for(batch))

    def check_return(self, batch: Batch, row: int, trajectory: Trajectory, oldest: int) -> None:
        """Raises AssertionError unless a row is what some number of stored steps amounts to.

        Override it if rewards are changed. `oldest` is the number of the oldest transition.
        """
        observed, following = (
            at(map_observation(np.asarray, part), row)
            for part in (batch.observation, batch.next_observation)
        )
        action, found = (
            batch.action[row].numpy(),
            (float(batch.reward[row]), float(batch.discount[row])),
        )
        allowed = []
        for number in range(oldest, len(trajectory.seen)):
            seen = trajectory.seen[number]
            if equal(observed, seen.observation) and equal(action, seen.action):
                for *expected, after in amounts(trajectory, number):
                    if np.allclose(found, expected, rtol=1e-5) and equal(following, after):
                        return
                    allowed.append(expected)
        raise AssertionError(
            f"a transition has the return and the discount {found} and the next observation "
            f"{following}. With 1, 2, … steps of its episode, return and discount are {allowed}, "
            f"and the next observation is what the last of these steps led to: sum up steps of one "
            f"environment (slot + n_envs) up to the end of the episode, with the discount gamma to "
            f"the power of their number, or 0 if the episode terminated"
        )

    def test_feedback_changes_neither_the_batch_nor_the_update(self) -> None:
        base, decorator, _ = self.stack(12)
        batch = base.sample(8)
        update = update_for(batch)
        given = {"td_error": update.td_error, "index": batch.index} | {
            name: getattr(batch, name) for name in ("reward", "discount", "weight")
        }
        before = copy.deepcopy(given)
        decorator.feedback(batch, update)
        changed = [name for name, value in given.items() if not same(value, before[name])]
        assert not changed, (
            f"feedback writes into {changed}, which other decorators and plugins read: change a "
            f"copy (td_error.abs() instead of td_error.abs_())"
        )

    def test_the_index_of_a_batch_is_one_that_the_base_knows(self) -> None:
        base, _, _ = self.stack(7)
        index = np.asarray(base.sample(200).index)
        assert index.dtype == np.int64 and index.min() >= 0
        assert index.max() < base.slots * base.variants
        assert (index % base.slots).max() < len(base), (
            "it chose a slot that nothing was written to yet"
        )

    def test_it_works_from_the_first_transition_on(self) -> None:
        for steps in (1, 2, 3):
            base, _, _ = self.stack(steps)
            assert len(base.sample(8).reward) == 8

    def test_it_works_while_the_oldest_transitions_are_overwritten(self) -> None:
        base, _, trajectory = self.stack(0)
        for step in trajectory.steps(3 * self.capacity):
            base.add(step)
            batch = base.sample(4)
            base.feedback(batch, update_for(batch))
        self.check(base.sample(64), trajectory.seen[-len(base) :])

    def test_it_can_join_a_base_that_is_in_use(self) -> None:
        used, decorator, trajectory = self.new_base(), self.made(), self.trajectory()
        opened = schema(trajectory, gamma=_GAMMA)
        used.open(opened)
        for step in trajectory.steps(8):
            used.add(step)
        decorator.open(used, opened)
        used.decorate(decorator)
        assert len(used.sample(16).reward) == 16

    @applies(lambda suite: "choose" in suite.record().stages)
    def test_one_that_joins_chooses_as_one_that_was_there_from_the_first_step(self) -> None:
        there, _, trajectory = self.stack(self.capacity + 3)
        used, decorator = self.new_base(), self.made()
        opened = schema(trajectory, gamma=_GAMMA)
        used.open(opened)
        for step in self.trajectory().steps(self.capacity + 3):
            used.add(step)
        decorator.open(used, opened)
        used.decorate(decorator)
        for storage in (there, used):
            storage.schema.rng.bit_generator.state = np.random.PCG64(5).state
        assert np.array_equal(there.sample(64).index, used.sample(64).index), (
            "one that joins a full base later chooses other transitions: added is then called "
            "with the slots of all, the oldest first (slots[-1] is the newest, and not the highest)"
        )

    @applies(lambda suite: may_choose_variants(suite))
    def test_it_chooses_the_variants_of_a_decorator_that_relabels(self) -> None:
        base, _, trajectory = self.stack(0)
        relabels = ThreeVariants()
        relabels.open(base, base.schema)
        base.decorate(relabels)
        for step in trajectory.steps(self.capacity):
            base.add(step)
        chosen = set((base.sample(500).index // base.slots).tolist())
        assert chosen == {0, 1, 2}, (
            f"of a base with three variants of every transition it chooses {sorted(chosen)}: with "
            "hindsight replay, no other goal is ever used. Choose index = slot + variant * "
            "base.slots, with variant < base.variants"
        )

    def test_feedback_that_is_not_finite_does_not_spoil_later_samples(self) -> None:
        base, _, _ = self.stack(12)
        batch = base.sample(4)
        base.feedback(batch, Update({}, td_error=batch.reward * float("nan")))
        after = base.sample(64)
        assert bool(after.weight.isfinite().all()) and bool((after.weight > 0).all())

    def test_it_draws_from_the_storages_stream_alone(self) -> None:
        found = []
        for _ in range(2):
            base, _, _ = self.stack(12, seed=3)
            with global_generators_untouched():
                found.append(base.sample(64))
        assert np.array_equal(found[0].index, found[1].index) and found[0].reward.equal(
            found[1].reward
        )

    def test_its_state_is_plain_and_gives_the_same_samples(self) -> None:
        base, decorator, trajectory = self.stack(self.capacity // 2 + 5)
        for _ in range(3):
            batch = base.sample(8)
            base.feedback(batch, update_for(batch))
        state = copy.deepcopy(base.state_dict())
        plain(decorator.state_dict())
        twin, other, _ = self.stack(0)
        given = copy.deepcopy(state)
        twin.load_state_dict(given)
        assert same(copy.deepcopy(other.state_dict()), copy.deepcopy(decorator.state_dict()))
        for storage in (base, twin):
            storage.schema.rng.bit_generator.state = np.random.PCG64(5).state
        for step in trajectory.steps(6):
            one, two = base.sample(16), twin.sample(16)
            assert np.array_equal(one.index, two.index), (
                "it samples differently after being restored"
            )
            assert one.reward.equal(two.reward) and one.weight.equal(two.weight)
            base.feedback(one, update_for(one))
            twin.feedback(two, update_for(two))
            base.add(step)
            twin.add(step)
        assert same(given, state), (
            "steps after load_state_dict have changed the state that it was given, which another "
            "agent may load too: copy its arrays into your own"
        )

    def test_batches_stay_as_they_are_while_more_is_added(self) -> None:
        base, _, trajectory = self.stack(12)
        for _ in range(3):
            batch = base.sample(16)
            base.feedback(batch, update_for(batch))
        batch = base.sample(16)
        kept = tensors_of(batch)
        for step in trajectory.steps(2 * self.capacity):
            base.add(step)
            base.feedback(batch, update_for(batch))
            base.sample(16)
        after = tensors_of(batch)
        changed = [name for name in kept if not same(kept[name], after[name])]
        assert not changed, (
            f"later steps or samples change {changed} of a batch: it must hold copies, not views "
            "of the memory"
        )


def may_choose_variants(suite: DecoratorContract) -> bool:
    """Whether it chooses, and another decorator may relabel."""
    stages = suite.record().stages
    return "choose" in stages and "relabel" not in stages


class ThreeVariants:
    """Takes the stage `relabel`: every transition has three variants, which are alike."""

    variants = 3

    def open(self, base: Any, schema: Schema) -> None:
        self._base = base

    def added(self, slots: Array) -> None:
        for variant in (1, 2):
            self._base.offer(slots + variant * self._base.slots)

    def relabel(self, window: Any) -> Any:
        return window

    def feedback(self, batch: Batch, update: Update) -> None:
        """Nothing is learnt from updates."""

    def state_dict(self) -> State:
        return {}

    def load_state_dict(self, state: State) -> None:
        """Nothing to restore."""


def amounts(trajectory: Trajectory, number: int) -> list[tuple[float, float, Any]]:
    """(return, discount, next observation) with 1, 2, … steps of the episode from a transition on.

    They end with the episode, or with the newest step.
    """
    found, total, factor = [], 0.0, 1.0
    for later in range(number, len(trajectory.seen), trajectory.n_envs):
        seen = trajectory.seen[later]
        total += factor * (later + 1)  # a reward identifies its transition
        factor *= _GAMMA
        found.append((total, 0.0 if seen.terminated else factor, seen.next_observation))
        if seen.terminated or seen.truncated:
            break
    return found


def update_for(batch: Batch) -> Update:
    """An update whose TD errors differ from transition to transition."""
    return Update({}, td_error=(batch.reward * 0.37).sin())
