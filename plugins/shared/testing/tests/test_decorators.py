"""The contract of decorating storages fails where returns or feedback are wrong."""

from __future__ import annotations

import dataclasses

import attrs
import numpy as np
import pytest

import rlk_testing as testing
from rlk.component import Component


class TwoSteps:
    """Good: returns of two steps, or of one at the end of an episode."""

    def open(self, base, schema):
        self.base, self.gamma = base, schema.gamma

    def added(self, slots):
        pass

    def window(self, index, length):
        return self.base.window(index, 2)

    def fold(self, window):
        two = window.length == 2
        reward = window.reward[0] + np.where(two, self.gamma * window.reward[1], 0.0)
        discount = np.where(self.last(window.terminated, two), 0.0, self.gamma**window.length)
        return self.batch(window, reward, discount, window.length)

    def last(self, flags, two):
        return np.where(two, flags[1], flags[0])

    def batch(self, window, reward, discount, steps):
        numbers = reward.astype(np.float32), discount.astype(np.float32)
        return self.base.batch(window, *numbers, steps)

    def feedback(self, batch, update):
        pass

    def state_dict(self):
        return {}

    def load_state_dict(self, state):
        pass


class DropsTheLastReward(TwoSteps):
    """The reward of the step that ends an episode is lost."""

    def fold(self, window):
        window.reward[-1] = 0.0
        return super().fold(window)


class GoesOnAfterTermination(TwoSteps):
    def last(self, flags, two):
        return np.zeros_like(two)


class EndsWhereItIsCutOff(TwoSteps):
    """A shorter return is taken for a termination."""

    def last(self, flags, two):
        return super().last(flags, two) | ~two


class DiscountsTwice(TwoSteps):
    def batch(self, window, reward, discount, steps):
        return super().batch(window, reward, self.gamma * discount, steps)


class LooksOneStepAhead(TwoSteps):
    """The next observation is always that of the first step."""

    def batch(self, window, reward, discount, steps):
        return super().batch(window, reward, discount, np.ones_like(steps))


class SumsUpTwoEnvironments(TwoSteps):
    """The second reward is the next slot's, of another environment."""

    def fold(self, window):
        other = self.base.window((window.index + 1) % len(self.base), 1)
        window.reward[1] = other.reward[0]
        return super().fold(window)


class ChangesTheErrors(TwoSteps):
    def feedback(self, batch, update):
        update.td_error.abs_()


class ChangesTheWeights(TwoSteps):
    def feedback(self, batch, update):
        batch.weight.mul_(0.5)


class MixesUpActions(TwoSteps):
    def batch(self, *arguments):
        batch = super().batch(*arguments)
        return dataclasses.replace(batch, action=batch.action.flip(0))


class KeepsActions(TwoSteps):
    """Of every slot the first that it has seen, also when another step is stored there."""

    def open(self, base, schema):
        super().open(base, schema)
        self.actions = {}

    def batch(self, window, *numbers):
        batch = super().batch(window, *numbers)
        for row, slot in enumerate(window.index.tolist()):
            batch.action[row] = self.actions.setdefault(slot, int(batch.action[row]))
        return batch


class GivesColumns(TwoSteps):
    def batch(self, *arguments):
        batch = super().batch(*arguments)
        return dataclasses.replace(batch, reward=batch.reward[:, None])


class NewestMoreOften(TwoSteps):
    """Good: of two ages it takes the smaller one, and returns are of two steps."""

    def open(self, base, schema):
        super().open(base, schema)
        self.rng, self.newest = schema.rng, -1

    def added(self, slots):
        self.newest = int(slots[-1])

    def choose(self, n):
        stored = len(self.base)
        age = self.rng.integers(stored, size=(2, n)).min(axis=0)
        return (self.newest - age) % stored + self.variant(n) * self.base.slots, np.ones(n, "f4")

    def variant(self, n):
        return self.rng.integers(self.base.variants, size=n)

    def state_dict(self):
        return {"newest": self.newest}

    def load_state_dict(self, state):
        self.newest = state["newest"]


class ChoosesNoVariants(NewestMoreOften):
    def variant(self, n):
        return 0


class TakesTheHighestSlotForTheNewest(NewestMoreOften):
    def added(self, slots):
        self.newest = int(slots.max())


class LeavesOutTheNewestStep(NewestMoreOften):
    def choose(self, n):
        return self.rng.integers(len(self.base) - 3, size=n), np.ones(n, "f4")


class TakesOneStepAtATime(NewestMoreOften):
    """One that joins later is told of many steps at once."""

    def added(self, slots):
        (_, _, self.newest) = slots.tolist()


TWO_STEPS = Component(
    name="two-steps", factory=TwoSteps, summary="returns of two steps", stages=("window", "fold")
)


NEWEST_MORE_OFTEN = Component(
    name="newest-more-often",
    factory=NewestMoreOften,
    summary="newer transitions more often",
    stages=("choose", "window", "fold"),
)


@pytest.mark.parametrize(
    ("factory", "check"),
    [
        (DropsTheLastReward, "test_returns_are_of_steps_that_followed_in_the_episode"),
        (GoesOnAfterTermination, "test_returns_are_of_steps_that_followed_in_the_episode"),
        (EndsWhereItIsCutOff, "test_returns_are_of_steps_that_followed_in_the_episode"),
        (DiscountsTwice, "test_returns_are_of_steps_that_followed_in_the_episode"),
        (LooksOneStepAhead, "test_returns_are_of_steps_that_followed_in_the_episode"),
        (SumsUpTwoEnvironments, "test_returns_are_of_steps_that_followed_in_the_episode"),
        (MixesUpActions, "test_observations_and_actions_are_of_transitions_that_are_stored"),
        (KeepsActions, "test_it_works_while_the_oldest_transitions_are_overwritten"),
        (GivesColumns, "test_batches_have_the_shapes_and_types_of_the_record"),
        (ChangesTheErrors, "test_feedback_changes_neither_the_batch_nor_the_update"),
        (ChangesTheWeights, "test_feedback_changes_neither_the_batch_nor_the_update"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_decorator_with_wrong_returns_or_feedback_fails(rlk_fails, factory, check):
    broken = attrs.evolve(TWO_STEPS, factory=factory)
    rlk_fails(testing.DecoratorContract, TWO_STEPS, broken, check)


@pytest.mark.parametrize(
    ("factory", "check"),
    [
        (ChoosesNoVariants, "test_it_chooses_the_variants_of_a_decorator_that_relabels"),
        (
            TakesTheHighestSlotForTheNewest,
            "test_one_that_joins_chooses_as_one_that_was_there_from_the_first_step",
        ),
    ],
)
def test_a_decorator_that_chooses_the_wrong_transitions_fails(rlk_fails, factory, check):
    broken = attrs.evolve(NEWEST_MORE_OFTEN, factory=factory)
    rlk_fails(testing.DecoratorContract, NEWEST_MORE_OFTEN, broken, check)


@pytest.mark.parametrize(
    ("factory", "check", "error"),
    [
        (
            LeavesOutTheNewestStep,
            "test_it_works_from_the_first_transition_on",
            "ValueError: high <= 0",
        ),
        (
            TakesOneStepAtATime,
            "test_it_can_join_a_base_that_is_in_use",
            "ValueError: too many values to unpack",
        ),
    ],
)
def test_a_decorator_that_cannot_begin_everywhere_fails(rlk_fails, factory, check, error):
    broken = attrs.evolve(NEWEST_MORE_OFTEN, factory=factory)
    rlk_fails(testing.DecoratorContract, NEWEST_MORE_OFTEN, broken, check, error)


class TestTwoSteps(testing.DecoratorContract):
    component = TWO_STEPS


class TestNewestMoreOften(testing.DecoratorContract):
    component = NEWEST_MORE_OFTEN
