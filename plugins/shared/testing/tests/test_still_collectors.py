"""The contract of collectors serves one that steps nothing, and fails for a broken one."""

from __future__ import annotations

import attrs
import pytest

from rlk_testing import CollectorContract
from rlk_testing.stand_ins import COMPONENTS, StandInCollector


class Still:
    """A collection is eight timesteps of each rank, without any step."""

    def __init__(self, run):
        self.run = run

    def collect(self):
        self.run.clock.timesteps += 8 * self.run.communicator.size
        return True

    def forget(self):
        """Nothing to forget."""

    def state_dict(self):
        return {}

    def load_state_dict(self, state):
        """Nothing to restore."""


STEPS = attrs.evolve(COMPONENTS["collectors"], name="still")
GOOD = attrs.evolve(STEPS, factory=Still, steps_nothing=True)


class TestStill(CollectorContract):
    component = GOOD


class StopsTheClock(Still):
    def collect(self):
        return True


class CountsOneRank(Still):
    def collect(self):
        self.run.clock.timesteps += 8
        return True


class StoresAgain(Still):
    def __init__(self, run):
        super().__init__(run)
        add, self.steps = run.add, []
        run.add = lambda step: (self.steps.append(step), add(step))

    def collect(self):
        self.run.add(self.steps[0])
        return super().collect()


@pytest.mark.parametrize(
    ("factory", "error"),
    [
        (StopsTheClock, ""),
        (CountsOneRank, ""),
        (StoresAgain, ""),
        (StandInCollector, "EnvironmentFailed: "),  # of an environment that nobody may step
    ],
)
def test_a_broken_one_fails(rlk_fails, factory, error):
    check = "test_a_collection_without_steps_advances_the_clock_for_all_ranks"
    rlk_fails(CollectorContract, GOOD, attrs.evolve(GOOD, factory=factory), check, error)


def test_one_that_does_not_say_so_is_told_what_to_say(rlk_fails):
    rlk_fails(CollectorContract, STEPS, attrs.evolve(STEPS, factory=Still), "test_it_stores_steps")
