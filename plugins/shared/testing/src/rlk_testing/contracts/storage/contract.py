"""The contract of a base storage, against a list of everything that was ever added."""

from __future__ import annotations

import copy
import tracemalloc

import gymnasium as gym
import numpy as np
import pytest

from rlk.errors import RlkError
from rlk_testing.contracts.storage.latest_collection import LatestCollectionChecks, check_rollout
from rlk_testing.contracts.storage.sampling import SamplingChecks, check_batch
from rlk_testing.contracts.storage.trajectory import SPACES, Trajectory
from rlk_testing.tools.global_generators import global_generators_untouched
from rlk_testing.tools.states import plain, same

#: Bytes by which memory may grow: the interpreter's own, and what a storage keeps besides
#: observations.
_SLACK = 200_000


class StorageContract(SamplingChecks, LatestCollectionChecks):
    """What every base storage must do; a decorating storage has the `DecoratorContract`.

    Attributes:
        capacity: value of its setting `buffer_size` in these checks, if it has that setting.
        n_steps: vector steps of one collection, which an on-policy storage holds.
        keeps_newest: False for a replay that, once full, may replace any transition or drop a new
            one, as a reservoir does.
    """

    # ---- checks for all base storages ------------------------------------------------------------

    def test_it_is_empty_when_it_was_opened(self) -> None:
        storage, _ = self.filled(0)
        assert len(storage) == 0

    def test_it_decorates_nothing(self) -> None:
        assert self.record().stages == (), (
            "it has stages: that is a decorator, see DecoratorContract"
        )

    def test_a_step_without_an_extra_of_the_schema_is_refused(self) -> None:
        trajectory = Trajectory(SPACES["float32"], gym.spaces.Discrete(4))
        storage = self.opened(trajectory)
        (step,) = trajectory.steps(1)
        with pytest.raises((RlkError, KeyError), match="log_prob"):
            storage.add(step._replace(extras={}))

    def test_it_leaves_a_step_as_it_was(self) -> None:
        """The next action is chosen for its next observation; listeners are given it too."""
        for space in SPACES.values():
            trajectory = Trajectory(space, gym.spaces.Discrete(4), ends=0.5)
            try:
                storage = self.opened(trajectory)
            except RlkError:
                continue
            for step in trajectory.steps(2 * self.n_steps):
                given = copy.deepcopy(step)
                storage.add(step)
                written = [
                    name
                    for name, one, other in zip(step._fields, step, given, strict=True)
                    if not same(one, other)
                ]
                assert not written, f"add() writes into {written} of the step: copy it first"

    @pytest.mark.parametrize("left", ["nothing", "a part", "a whole collection"])
    def test_a_collection_that_was_cut_short_does_not_spoil_the_next(self, left: str) -> None:
        """Collectors call `restart` also where none was, before the first and after a whole one."""
        steps = {"nothing": 0, "a part": self.n_steps - 2, "a whole collection": self.n_steps}
        storage, trajectory = self.filled(steps[left])
        storage.restart()
        for step in trajectory.steps(self.n_steps):
            storage.add(step)
        if self.record().collects in ("on-policy", "both"):
            check_rollout(storage.latest(), trajectory, self.n_steps)
        else:
            check_batch(storage.sample(100), trajectory)

    def test_adding_draws_from_no_global_generator(self) -> None:
        with global_generators_untouched():
            self.filled(2 * self.n_steps)

    def test_it_takes_memory_once_however_many_steps_are_added(self) -> None:
        big = gym.spaces.Box(-1.0, 1.0, (1024,), np.float32)
        trajectory = Trajectory(big, gym.spaces.Discrete(4))
        storage = self.opened(trajectory)

        def taken_after(steps: int) -> int:
            for step in trajectory.steps(steps):
                storage.add(step)
                trajectory.seen.clear()
            return tracemalloc.get_traced_memory()[0]

        tracemalloc.start()
        try:
            before = taken_after(max(2 * self.capacity, 4 * self.n_steps))
            grown = taken_after(200) - before
        finally:
            tracemalloc.stop()
        # 200 more steps of two such observations are 1.6 MB.
        assert grown < _SLACK, f"it grew by {grown} bytes while it was full"

    def test_its_state_is_plain(self) -> None:
        storage, _ = self.filled(self.n_steps)
        plain(storage.state_dict())

    def test_its_state_comes_back_bit_for_bit(self) -> None:
        for steps in (0, self.n_steps, 3 * self.capacity // self.n_steps * self.n_steps):
            storage, _ = self.filled(steps)
            state = copy.deepcopy(storage.state_dict())
            twin, _ = self.filled(0)
            twin.load_state_dict(copy.deepcopy(state))
            assert len(twin) == len(storage)
            assert same(twin.state_dict(), state), (
                f"after {steps} steps its state changes by being loaded"
            )

    def test_a_state_of_other_observations_is_refused(self) -> None:
        storage, _ = self.filled(self.n_steps)
        state = copy.deepcopy(storage.state_dict())
        other = self.opened(
            Trajectory(gym.spaces.Box(-1.0, 1.0, (7,), np.float32), gym.spaces.Discrete(4))
        )
        with pytest.raises(RlkError, match="observation"):
            other.load_state_dict(state)
