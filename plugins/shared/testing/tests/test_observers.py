"""Contracts of callbacks, extensions and loggers fail where a component is broken."""

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

# ---- callbacks and extensions --------------------------------------------------------------------


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
        (SavesAnObject, "test_what_it_remembers_is_plain_and_goes_on_where_it_was"),
        (SavesAndForgets, "test_what_it_remembers_is_plain_and_goes_on_where_it_was"),
        (the_same_every_time, "test_every_run_gets_an_object_of_its_own"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_broken_callback_fails(rlk_fails, factory, check):
    broken = attrs.evolve(COUNTS, factory=factory)
    rlk_fails(testing.CallbackContract, COUNTS, broken, check)


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


# ---- loggers -------------------------------------------------------------------------------------


class Lines:
    """Good: a line for every row, if the run has a folder; it continues after its checkpoint."""

    def __init__(self):
        self.file, self.count = None, None

    @hookimpl
    def rlk_training_start(self, run):
        if run.out is not None and self.file is None:
            path = run.out / "rows.txt"
            lines = path.read_text().splitlines(keepends=True) if path.exists() else []
            self.file = path.open("w")
            run.on_close.append(self.file.close)
            self.file.writelines(lines[: self.count])
            self.count = len(lines[: self.count])

    @hookimpl
    def rlk_write_row(self, run, row):
        if self.file is not None:
            self.file.write(f"{run.timesteps} {dict(row)}\n")
            self.count += 1

    @hookimpl
    def rlk_save(self):
        return None if self.count is None else {"count": self.count}

    @hookimpl
    def rlk_load(self, state):
        self.count = int(state["count"])


class RepeatsRows(Lines):
    @hookimpl
    def rlk_load(self, state):
        pass


class ForgetsTheHook(Lines):
    def rlk_write_row(self, run, row):
        pass


class WantsTheSameKeys(Lines):
    keys = None

    @hookimpl
    def rlk_write_row(self, row):
        self.keys = self.keys or set(row)
        assert self.keys == set(row)


class TakesKeysOut(Lines):
    @hookimpl
    def rlk_write_row(self, row):
        row.pop("train/loss", None)


class ClosesWhatIsNotOpen(Lines):
    @hookimpl
    def rlk_training_start(self, run):
        run.on_close.append(lambda: self.file.close())


class WantsANewFolder(Lines):
    @hookimpl
    def rlk_training_start(self, run):
        (run.out / "rows.txt").touch(exist_ok=False)


class WritesHere(Lines):
    @hookimpl
    def rlk_training_start(self, run):
        self.file = Path("rows.txt").open("a")  # noqa: SIM115


class NeedsAFolderWithoutSayingSo(Lines):
    @hookimpl
    def rlk_check_plan(self, plan):
        return None if plan.out else "no."


class LeavesItsFileOpen(Lines):
    @hookimpl
    def rlk_training_start(self, run):
        self.file = (run.out / "rows.txt").open("a")


class BreaksOnceForAll(Lines):
    @hookimpl
    def rlk_write_row(self, run, row):
        if self.file is None:
            return
        try:
            self.file.write("row\n")
            self.file.flush()
        except OSError:
            self.file = object()  # and the next row is for nobody


class TakesItForItsOwnFault(Lines):
    @hookimpl
    def rlk_write_row(self, run, row):
        try:
            (run.out / "rows.txt").write_text("row")
        except OSError as error:
            raise RuntimeError("could not write") from error


LINES = Component(name="lines", factory=Lines, summary="a line for every row")


@pytest.mark.parametrize(
    ("factory", "check"),
    [
        (ForgetsTheHook, "test_rows_of_a_run_reach_it"),
        (WantsTheSameKeys, "test_it_takes_rows_whose_keys_come_and_go_and_numbers_that_are_none"),
        (TakesKeysOut, "test_it_leaves_the_row_as_it_was_for_the_next_logger"),
        (ClosesWhatIsNotOpen, "test_a_run_without_a_row_can_be_closed"),
        (WantsANewFolder, "test_a_resumed_run_opens_it_again_in_the_same_folder"),
        (RepeatsRows, "test_rows_after_its_checkpoint_are_not_repeated_by_a_resumed_run"),
        (WritesHere, "test_a_run_without_a_folder_writes_nothing"),
        (NeedsAFolderWithoutSayingSo, "test_a_run_without_a_folder_writes_nothing"),
        (LeavesItsFileOpen, "test_a_closed_run_leaves_no_file_and_no_socket_open"),
        (BreaksOnceForAll, "test_a_full_disk_does_not_end_a_run"),
        (TakesItForItsOwnFault, "test_a_full_disk_does_not_end_a_run"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_broken_logger_fails(rlk_fails, factory, check):
    rlk_fails(testing.LoggerContract, LINES, attrs.evolve(LINES, factory=factory), check)


class Tracks(Lines):
    """Good, but its file is beside the folder of the run, and there is one without a folder."""

    @hookimpl
    def rlk_training_start(self, run):
        if self.file is None:
            self.file, self.count = Path("tracked.txt").open("a"), self.count or 0  # noqa: SIM115
            run.on_close.append(self.file.close)


class TestTracks(testing.LoggerContract):
    component = attrs.evolve(LINES, factory=Tracks)
    writes_elsewhere = True


@pytest.mark.parametrize(
    "check",
    ["test_a_run_without_a_folder_writes_nothing", "test_a_run_with_a_folder_writes_there_alone"],
)
def test_a_logger_that_writes_elsewhere_fails_unless_its_suite_says_so(rlk_verdict, check):
    broken = {"component": TestTracks.component}
    suites = [type("Suite", (testing.LoggerContract,), broken), TestTracks]
    assert rlk_verdict(suites[0], check).startswith("failed")
    assert rlk_verdict(suites[1], check) == "does not apply"
