"""The contract of storages for one that does not keep the newest transitions."""

from __future__ import annotations

import attrs
import pytest

import rlk_testing as testing
from rlk_testing import stand_ins


class Reservoir(stand_ins.StandInStorage):
    """Good, but does not keep the newest: every vector step stays with the same probability."""

    def open(self, schema):
        super().open(schema)
        self.seen = 0

    def add(self, step):
        before, place = list(self._steps), self.seen
        super().add(step)  # which appends it
        self.seen += 1
        if len(before) == self.size:
            place = int(self.schema.rng.integers(self.seen))
            self._steps, (newest,) = before, self._steps[-1:]
            if place < self.size:
                self._steps[place] = newest

    def state_dict(self):
        return {**super().state_dict(), "seen": self.seen}

    def load_state_dict(self, state):
        super().load_state_dict(state)
        self.seen = int(state["seen"])


class ForgetsHowManyItSaw(Reservoir):
    def load_state_dict(self, state):
        super().load_state_dict({**state, "seen": self.size})


class LosesOne(Reservoir):
    def sample(self, batch_size):
        kept, self._steps = self._steps, self._steps[1:] or self._steps
        try:
            return super().sample(batch_size)
        finally:
            self._steps = kept


RESERVOIR = attrs.evolve(stand_ins.COMPONENTS["storages"], collects="off-policy", factory=Reservoir)


class TestReservoir(testing.StorageContract):
    component = RESERVOIR
    keeps_newest = False


@pytest.mark.parametrize(
    ("factory", "check"),
    [
        (ForgetsHowManyItSaw, "test_replay_goes_on_after_loading_as_it_would_have_without"),
        (LosesOne, "test_replay_samples_the_newest_transition_and_those_that_ended"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_broken_reservoir_fails(rlk_fails, factory, check):
    broken = attrs.evolve(RESERVOIR, factory=factory)
    rlk_fails(testing.StorageContract, RESERVOIR, broken, check, keeps_newest=False)


def test_a_reservoir_fails_unless_its_suite_says_what_it_is(rlk_verdict):
    suite = type("Suite", (testing.StorageContract,), {"component": RESERVOIR})
    check = "test_replay_keeps_the_newest_transitions_and_no_more_than_it_was_told"
    assert rlk_verdict(suite, check).startswith("failed: ")
