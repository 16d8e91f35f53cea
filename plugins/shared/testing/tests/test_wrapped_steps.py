"""Callbacks and extensions fail that write into steps and batches, or keep arrays of steps."""

from __future__ import annotations

import dataclasses

import attrs
import numpy as np
import pytest

import rlk_testing as testing
from rlk import hookimpl
from rlk.component import Component
from rlk.records import Step
from rlk_testing.contracts.shared.handed_steps import copies


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


class StoresWhatWasThreeStepsAgo:
    """A bonus for what was observed three steps ago, of which it keeps the array."""

    def __init__(self):
        self.seen = []

    @hookimpl
    def rlk_wrap_add(self, run):
        def wrapper(add):
            def added(step):
                self.seen = [*self.seen[-3:], step.observation]
                add(step._replace(reward=step.reward + self.seen[0].sum(1)))

            return added

        return wrapper


DOUBLES = Component(name="doubles", factory=DoublesRewards)


@pytest.mark.parametrize(
    ("factory", "check"),
    [
        (
            WritesIntoSteps,
            "test_a_step_whose_storing_it_wraps_stays_as_the_environment_gave_it",
        ),
        (StoresWhatWasThreeStepsAgo, "test_it_copies_what_it_keeps_of_a_step"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_an_extension_that_misuses_the_steps_it_stores_fails(rlk_fails, factory, check):
    broken = attrs.evolve(DOUBLES, factory=factory)
    rlk_fails(testing.ExtensionContract, DOUBLES, broken, check)


class SumsRewards:
    """Good: the sum of the rewards of each collection, and what it was in all."""

    def __init__(self):
        self.kept, self.total = [], 0.0

    @hookimpl
    def rlk_step(self, step):
        self.kept.append(self.of(step))

    def of(self, step):
        return step.reward.copy()

    @hookimpl
    def rlk_rollout_end(self):
        self.latest = float(np.sum(self.kept))
        self.kept.clear()
        self.total += self.latest

    @hookimpl
    def rlk_log(self, row):
        row["rollout/rewards"] = self.latest


class SavesSumsOfReferences(SumsRewards):
    def of(self, step):
        return step.reward

    @hookimpl
    def rlk_log(self, row):
        pass

    @hookimpl
    def rlk_save(self):
        return {"total": self.total}

    @hookimpl
    def rlk_load(self, state):
        self.total = state["total"]


class LogsSumsOfReferences(SumsRewards):
    def of(self, step):
        return step.reward


class ClipsRewardsInPlace(SumsRewards):
    def of(self, step):
        step.reward[:] = step.reward.clip(-0.5, 0.5)
        return step.reward.copy()


SUMS = Component(name="sums", factory=SumsRewards)


@pytest.mark.parametrize(
    ("factory", "check"),
    [
        (SavesSumsOfReferences, "test_it_copies_what_it_keeps_of_a_step"),
        (LogsSumsOfReferences, "test_it_copies_what_it_keeps_of_a_step"),
        (
            ClipsRewardsInPlace,
            "test_a_step_that_it_is_told_of_stays_as_the_environment_gave_it",
        ),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_callback_that_misuses_the_steps_it_is_told_of_fails(rlk_fails, factory, check):
    rlk_fails(testing.CallbackContract, SUMS, attrs.evolve(SUMS, factory=factory), check)


class HalvesRewards:
    """Good: updates are made with a changed batch."""

    @hookimpl
    def rlk_wrap_update(self, run):
        def wrapper(update):
            return lambda batch, optimise: update(self.halved(batch), optimise)

        return wrapper

    def halved(self, batch):
        return dataclasses.replace(batch, reward=0.5 * batch.reward)


class HalvesRewardsInPlace(HalvesRewards):
    def halved(self, batch):
        batch.reward.mul_(0.5)
        return batch


def test_an_extension_that_writes_into_the_batch_of_an_update_fails(rlk_fails):
    good, broken = (
        Component(name="halves", factory=factory)
        for factory in (HalvesRewards, HalvesRewardsInPlace)
    )
    check = "test_the_batch_of_an_update_stays_as_it_was"
    rlk_fails(testing.ExtensionContract, good, broken, check)


def a_step(number):
    """A step of one environment, in which every value is the number, and it has ended."""
    values = np.array([number], np.float32)
    flags = np.array([False])
    return Step(
        {"a": values.copy()}, np.array([number]), values, flags, flags.copy(), {"a": values.copy()},
        {0: {"a": values.copy()}}, {"value": values.copy()},
    )  # fmt: skip


def test_a_copy_is_overwritten_two_steps_later_and_no_original_ever():
    handed = copies(overwritten=True)
    steps = [a_step(number) for number in range(4)]
    found = [handed(step) for step in steps]
    assert [float(step.reward[0]) for step in found] == [1.0, 2.0, 2.0, 3.0]
    parts = found[1].observation, found[1].final_observation[0], found[1].extras, found[3].extras
    assert [float(one[0]) for part in parts for one in part.values()] == [2.0, 2.0, 2.0, 3.0]
    assert found[0].terminated.tolist() == [True] and found[2].terminated.tolist() == [False]
    assert [float(step.reward[0]) for step in steps] == [0.0, 1.0, 2.0, 3.0]
