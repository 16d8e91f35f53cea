"""Contracts of callbacks and extensions fail where a component is broken."""

from __future__ import annotations

import random
import socket
from pathlib import Path

import attrs
import numpy as np
import pytest

import rlk_testing as testing
from rlk import hookimpl
from rlk.component import Component


class CountsIterations:
    """Good: counts, and keeps the count in checkpoints."""

    def __init__(self):
        self.count = 0

    @hookimpl
    def rlk_update_end(self, run):
        self.count += 1

    @hookimpl
    def rlk_save(self):
        return {"count": self.count}

    @hookimpl
    def rlk_load(self, state):
        self.count = int(state["count"])


class MisspellsAHook(CountsIterations):
    @hookimpl
    def rlk_updates_end(self, run):
        pass


class MarksNothing:
    def rlk_update_end(self, run):
        pass


class DrawsFromTheRun(CountsIterations):
    @hookimpl
    def rlk_rollout_start(self, run):
        run.streams.numpy("actor").random()


class ChangesByItself(CountsIterations):
    @hookimpl
    def rlk_rollout_end(self, run):
        run.parameters.flat.add_(np.random.rand() * 1e-3)


class UsesPythonsRandom(CountsIterations):
    @hookimpl
    def rlk_update_end(self, run):
        self.count += random.random() < 2


class AsksTheOnlyEnvironment(CountsIterations):
    @hookimpl
    def rlk_step(self, step):
        if step.terminated:
            self.count += 1


class ForgetsWhatIsUnfinished(CountsIterations):
    """It counts the steps of episodes that ended; those of the others are lost in a resume."""

    running = 0

    @hookimpl
    def rlk_update_end(self, run):
        pass

    @hookimpl
    def rlk_step(self, step):
        self.running = self.running + 1
        if (step.terminated | step.truncated).any():
            self.count, self.running = self.count + self.running, 0


class ForgetsItsCount:
    """Every update counts, and the count of a resumed run begins with 0."""

    count = 0

    @hookimpl
    def rlk_update_end(self, run):
        self.count += 1
        run.parameters.flat.add_(1e-3 * self.count)


class LeavesASocketOpen(CountsIterations):
    @hookimpl
    def rlk_training_start(self):
        self.socket = socket.socket()


class WritesWhereItIs(CountsIterations):
    @hookimpl
    def rlk_training_end(self, run):
        Path("count.txt").write_text(str(self.count))


class WritesWhenMade(CountsIterations):
    def __init__(self):
        super().__init__()
        Path("made.txt").write_text("")


class Prints(CountsIterations):
    @hookimpl
    def rlk_training_end(self, run):
        print(self.count)


class HidesErrors(CountsIterations):
    @hookimpl
    def rlk_training_end(self, failure):
        if failure is not None:
            raise RuntimeError("in the callback itself")


class WorksOnce(CountsIterations):
    @hookimpl
    def rlk_training_start(self, run):
        assert self.count == 0


class ClosesWhatItNeverOpened(CountsIterations):
    @hookimpl
    def rlk_wrap_add(self, run):
        run.on_close.append(lambda: self.began.clear())

    @hookimpl
    def rlk_training_start(self, run):
        self.began = [run.timesteps]


class SavesAnObject(CountsIterations):
    @hookimpl
    def rlk_save(self):
        return {"count": self}


class SavesAndForgets(CountsIterations):
    @hookimpl
    def rlk_load(self, state):
        pass


class Climbs:
    """Good: its level is a part of models, too."""

    def __init__(self):
        self.level = 0

    @hookimpl
    def rlk_update_end(self):
        self.level += 1

    @hookimpl
    def rlk_save_with_model(self):
        return {"level": self.level}

    @hookimpl
    def rlk_load_with_model(self, state):
        self.level = state["level"]


class ClimbsAnew(Climbs):
    @hookimpl
    def rlk_load_with_model(self, state):
        pass


class KeepsAnObjectInModels(Climbs):
    @hookimpl
    def rlk_save_with_model(self):
        return {"level": self}


def the_same_every_time() -> CountsIterations:
    return ONE


ONE = CountsIterations()
COUNTS = Component(name="counts", factory=CountsIterations, summary="counts iterations")
#: How those end that raise before the check's own assertion.
ERRORS = {
    AsksTheOnlyEnvironment: "ValueError: The truth value of an array",
    ClosesWhatItNeverOpened: "AttributeError: 'ClosesWhatItNeverOpened' object",
}


@pytest.mark.parametrize(
    ("factory", "check"),
    [
        (MisspellsAHook, "test_every_hook_that_it_marks_is_one_of_rlks"),
        (MarksNothing, "test_it_answers_some_hook"),
        (DrawsFromTheRun, "test_a_run_learns_with_it_what_it_learns_without"),
        (ChangesByItself, "test_a_run_with_it_learns_the_same_every_time"),
        (UsesPythonsRandom, "test_a_run_with_it_draws_from_no_global_generator"),
        (ForgetsItsCount, "test_a_resumed_run_trains_on_as_one_without_interruption"),
        (LeavesASocketOpen, "test_a_closed_run_leaves_no_file_and_no_socket_open"),
        (WritesWhereItIs, "test_a_run_without_a_folder_writes_nothing"),
        (WritesWhereItIs, "test_a_run_with_a_folder_writes_there_alone"),
        (WritesWhenMade, "test_making_it_does_nothing_yet"),
        (Prints, "test_a_run_that_says_nothing_says_nothing_with_it"),
        (HidesErrors, "test_an_error_of_the_environment_gets_through_it"),
        (WorksOnce, "test_a_second_training_of_the_same_agent_works"),
        (ClosesWhatItNeverOpened, "test_a_run_with_it_can_be_closed_before_it_began"),
        (SavesAnObject, "test_what_it_remembers_is_plain_and_goes_on_where_it_was"),
        (AsksTheOnlyEnvironment, "test_a_run_with_it_trains"),
        (ForgetsWhatIsUnfinished, "test_what_it_remembers_is_plain_and_goes_on_where_it_was"),
        (SavesAndForgets, "test_what_it_remembers_is_plain_and_goes_on_where_it_was"),
        (the_same_every_time, "test_every_run_gets_an_object_of_its_own"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_broken_callback_fails(rlk_fails, factory, check):
    broken, error = attrs.evolve(COUNTS, factory=factory), ERRORS.get(factory, "")
    rlk_fails(testing.CallbackContract, COUNTS, broken, check, error)


@pytest.mark.parametrize("factory", [ClimbsAnew, KeepsAnObjectInModels])
def test_what_belongs_to_models_is_checked_as_well(rlk_fails, factory):
    good = Component(name="climbs", factory=Climbs, summary="has a level")
    check = "test_what_it_remembers_is_plain_and_goes_on_where_it_was"
    rlk_fails(testing.CallbackContract, good, attrs.evolve(good, factory=factory), check)


def test_an_extension_may_change_what_is_learnt(rlk_verdict):
    component = attrs.evolve(COUNTS, factory=DrawsFromTheRun)
    suite = type("Suite", (testing.ExtensionContract,), {"component": component})
    assert not hasattr(suite, "test_a_run_learns_with_it_what_it_learns_without")
    assert rlk_verdict(suite, "test_a_run_with_it_learns_the_same_every_time") == "passed"


def test_an_environment_that_takes_no_keywords_to_fail_is_told_of_spoilt(rlk_verdict):
    check, own = "test_an_error_of_the_environment_gets_through_it", {"env": "CartPole-v1"}
    suite = type("Suite", (testing.CallbackContract,), {"component": COUNTS, **own})
    said = rlk_verdict(suite, check)
    assert said.startswith("failed: ") and "unexpected keyword argument 'spoil'" in said
    assert "Set `spoilt`, too: keywords with which your `env` raises an error" in said
