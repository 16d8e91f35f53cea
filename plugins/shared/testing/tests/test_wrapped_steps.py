"""The contract of extensions fails one that writes into the steps whose storing it wraps."""

from __future__ import annotations

import attrs

import rlk_testing as testing
from rlk import hookimpl
from rlk.component import Component


class DoublesRewards:
    """Good: stores a changed copy of every step."""

    @hookimpl
    def rlk_wrap_add(self, run):
        return lambda add: lambda step: add(step._replace(reward=2.0 * step.reward))


class WritesIntoSteps:
    @hookimpl
    def rlk_wrap_add(self, run):
        def wrapper(add):
            def added(step):
                step.reward[:] *= 2.0
                add(step)

            return added

        return wrapper


def test_an_extension_that_writes_into_steps_fails(rlk_fails):
    good = Component(name="doubles", factory=DoublesRewards)
    broken = attrs.evolve(good, factory=WritesIntoSteps)
    check = "test_a_step_whose_storing_it_wraps_stays_as_the_environment_gave_it"
    rlk_fails(testing.ExtensionContract, good, broken, check)
