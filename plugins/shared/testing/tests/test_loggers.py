"""The contract of loggers fails where a component is broken."""

from __future__ import annotations

from pathlib import Path

import attrs
import pytest

import rlk_testing as testing
from rlk import hookimpl
from rlk.component import Component


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
        self.file, self.count = Path("rows.txt").open("a"), 0  # noqa: SIM115


class NeedsAFolderWithoutSayingSo(Lines):
    @hookimpl
    def rlk_check_plan(self, plan):
        return None if plan.out else "not without a folder."


class LeavesItsFileOpen(Lines):
    @hookimpl
    def rlk_training_start(self, run):
        self.file, self.count = (run.out / "rows.txt").open("a"), 0


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


class HoldsTheLatestRowBack(Lines):
    held = None

    @hookimpl
    def rlk_write_row(self, run, row):
        if self.held is not None:
            super().rlk_write_row(run, self.held)
        self.held = dict(row)


class BeginsItsFileAnew(Lines):
    @hookimpl
    def rlk_training_start(self, run):
        if run.out is not None:
            if self.file is not None:
                self.file.close()
            self.file, self.count = (run.out / "rows.txt").open("w"), 0
            run.on_close.append(self.file.close)


LINES = Component(name="lines", factory=Lines, summary="a line for every row")
#: How those end that raise before the check's own assertion.
ERRORS = {
    ClosesWhatIsNotOpen: "AttributeError: 'NoneType' object has no attribute 'close'",
    WantsANewFolder: "RlkError: plugin 'lines' cannot begin",
    BreaksOnceForAll: "AttributeError: 'object' object has no attribute 'write'",
    TakesItForItsOwnFault: "RuntimeError: could not write",
}


@pytest.mark.parametrize(
    ("factory", "check"),
    [
        (ForgetsTheHook, "test_rows_of_a_run_reach_it"),
        (WantsTheSameKeys, "test_it_takes_rows_whose_keys_come_and_go_and_non_finite_numbers"),
        (TakesKeysOut, "test_it_leaves_the_row_as_it_was_for_the_next_logger"),
        (ClosesWhatIsNotOpen, "test_a_run_without_a_row_can_be_closed"),
        (WantsANewFolder, "test_a_resumed_run_opens_it_again_in_the_same_folder"),
        (RepeatsRows, "test_rows_after_its_checkpoint_are_not_repeated_by_a_resumed_run"),
        (
            HoldsTheLatestRowBack,
            "test_its_files_have_every_row_of_two_trainings_once_the_run_is_closed",
        ),
        (
            BeginsItsFileAnew,
            "test_its_files_have_every_row_of_two_trainings_once_the_run_is_closed",
        ),
        (WritesHere, "test_a_run_without_a_folder_writes_nothing"),
        (NeedsAFolderWithoutSayingSo, "test_a_run_without_a_folder_writes_nothing"),
        (LeavesItsFileOpen, "test_a_closed_run_leaves_no_file_and_no_socket_open"),
        (BreaksOnceForAll, "test_a_full_disk_does_not_end_a_run"),
        (TakesItForItsOwnFault, "test_a_full_disk_does_not_end_a_run"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_broken_logger_fails(rlk_fails, factory, check):
    broken, error = attrs.evolve(LINES, factory=factory), ERRORS.get(factory, "")
    rlk_fails(testing.LoggerContract, LINES, broken, check, error)


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
    assert rlk_verdict(suites[0], check).startswith("failed: ")
    assert rlk_verdict(suites[1], check) == "does not apply"
