"""`checkpoint`: the files from which a run can be resumed, and the final model.

Checkpoints are taken at the end of an iteration, after everything else that happens there: whenever
timesteps pass a multiple of `every`, and when training ends for any reason, signals included. So
resuming the schedule needs no further state. One is taken before the first iteration, so that a run
can be resumed whenever it is killed; the next one replaces it.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlk.errors import NotFinite, RlkError
from rlk.hookspecs import hookimpl
from rlk.saving import checkpoint, saved_files
from rlk.terminal import print_on
from rlk_callbacks.config import CheckpointConfig
from rlk_callbacks.interval import next_due
from rlk_model_files.locate import checkpoints

if TYPE_CHECKING:
    from rlk.protocols import State
    from rlk.running.run import Run

#: Before a replay larger than this is written, a message is printed once.
LARGE_BYTES = 1_000_000_000
#: Of more checkpoints than these, a message does not name all.
MOST_NAMES = 4
NAME = "checkpoint"


class Checkpoints:
    """Writes `checkpoints/<timesteps>.zip` and `model.zip` into the run's folder, if it has one.

    If a write fails, older files are kept and training continues; the failure is added to the run's
    failed writes. After NaN or infinity nothing is written, and the last good files are kept.
    """

    def __init__(self, config: CheckpointConfig | None = None) -> None:
        self._config = config or CheckpointConfig()
        self._due: float = float("inf")
        self._began = 0
        self._saved = -1
        self._at_border = True
        self._announced = False

    @hookimpl(trylast=True)
    def rlk_training_start(self, run: Run) -> None:
        """Called last, so that the first checkpoint has the replay that others have filled."""
        self._began, self._saved, self._at_border = run.timesteps, -1, True
        self._due = self._next(run.timesteps)
        if not _writes(run):
            return
        if run.plan.verbose:
            _tell_of_replaced(run)
        if run.timesteps == 0 and not written(run):
            self._try(run, NAME, self._write_checkpoint)

    @hookimpl
    def rlk_rollout_start(self) -> None:
        self._at_border = False

    @hookimpl
    def rlk_update_end(self) -> None:
        self._at_border = True

    @hookimpl
    def rlk_should_stop(self, run: Run) -> None:
        """Called last in an iteration, so that a checkpoint has its metrics and its evaluation."""
        if run.timesteps < self._due:
            return
        self._due = self._next(run.timesteps)
        if _writes(run):
            self._try(run, NAME, self._write_checkpoint)

    @hookimpl
    def rlk_training_end(self, run: Run, failure: BaseException | None) -> None:
        nothing_new = failure is not None and run.timesteps == self._began
        if nothing_new and self._saved == 0:
            _remove_all(run)
        if not _writes(run) or isinstance(failure, NotFinite) or nothing_new:
            return
        self._try(run, "model.zip", _write_model, failure)
        if run.timesteps != self._saved:
            self._try(run, NAME, self._write_checkpoint, failure)

    def _try(
        self,
        run: Run,
        writer: str,
        write: Callable[[Run], Any],
        failure: BaseException | None = None,
    ) -> None:
        """Write a file; if that fails, the failure is recorded.

        After a failure of the run, other errors are ignored, because they must not hide it.
        """
        expected = (OSError, RlkError) if failure is None else (Exception,)
        try:
            write(run)
        except expected as error:
            run.failed_writes.note(writer, error)
        else:
            run.failed_writes.succeeded(writer)

    def _next(self, timesteps: int) -> float:
        every = self._config.every
        return float("inf") if every is None else next_due(timesteps, every)

    def _write_checkpoint(self, run: Run) -> None:
        """Write another checkpoint, and delete the oldest one when it is complete."""
        assert run.out is not None
        path = run.out / "checkpoints" / str(run.timesteps)
        if self._config.replay:
            self._announce(run)
        compose = checkpoint.run_in_training if self._at_border else unfinished_state
        _save(run, path, compose(run, replay=self._config.replay))
        if self._saved <= 0:  # further ones of this call replace none
            for path in replaced(run):
                path.unlink(missing_ok=True)
        self._saved = run.timesteps
        if self._config.keep is not None:
            prune(written(run), self._config.keep)

    def _announce(self, run: Run) -> None:
        if self._announced or not run.plan.verbose:
            return
        size = size_of(run.storage.state_dict())
        if size > LARGE_BYTES:
            self._announced = True
            _print(
                f"checkpoints hold the replay and take about {size / 1e9:.1f} GB each; "
                "--set checkpoint.replay=false leaves it out, and a resumed run fills it anew.",
            )


def unfinished_state(run: Run, *, replay: bool) -> State:
    """A checkpoint from the middle of an iteration, where environments and collector may differ.

    Environments are left out, so that episodes start anew, and so is an unfinished rollout.
    """
    is_rollout = run.plan.algorithm.component.collects == "on-policy"
    return checkpoint.run_in_training(run, replay=replay and not is_rollout, environments=False)


def written(run: Run) -> list[Path]:
    """The checkpoints in a run's folder, of any serializer: it may be resumed with another one.

    They are in the order of their timesteps; of two that have the same, the run's own is the last.
    """
    assert run.out is not None
    own = run.plan.serializer.make().suffix
    readable = [one.suffix for one in saved_files.serializers(run.plan.kernel)]
    return checkpoints(run.out, *(suffix for suffix in readable if suffix != own), own)


def replaced(run: Run) -> list[Path]:
    """The checkpoints in a run's folder that one of its timesteps replaces.

    Later ones are from before it was resumed from an older checkpoint, or from before a call of
    `learn` that counts timesteps from 0 again. If they stayed, `rlk resume` would take the last of
    them for the newest. That of its start is of no use any more.
    """
    at = {path: int(path.name.partition(".")[0]) for path in written(run)}
    return [path for path in at if at[path] > run.timesteps or at[path] == 0 < run.timesteps]


def _remove_all(run: Run) -> None:
    """Remove the checkpoint of a run that has not begun, and with it the folder of checkpoints."""
    assert run.out is not None
    with contextlib.suppress(OSError):  # what stays is a run that can be resumed
        for path in written(run):
            path.unlink()
        (run.out / "checkpoints").rmdir()


def _tell_of_replaced(run: Run) -> None:
    """Print which checkpoints the run will delete when it writes its first one."""
    names = [path.name for path in replaced(run)]
    if not names:
        return
    whose = "the run had written after this point"
    instead = "to keep all, continue in another folder (--out DIR, in Python out='DIR')"
    if run.timesteps == 0 < run.clock.earlier_timesteps:
        whose = "earlier calls of learn have written"
        instead = "learn(…, reset_num_timesteps=False) continues their count of timesteps instead"
    which = f"the next checkpoint replaces {_listed(names)}, which {whose}."
    _print(f"{which} Copy those that you want to keep; {instead}.")


def _print(text: str) -> None:
    """Print on stderr; a progress bar stays below the text."""
    print_on(sys.stderr, f"{NAME}: {text}")


def _listed(names: Sequence[str]) -> str:
    """The names of checkpoints for a message, which a run of weeks has thousands of."""
    if len(names) <= MOST_NAMES:
        return ", ".join(names)
    return f"{', '.join(names[: MOST_NAMES - 1])}, … {names[-1]} ({len(names):,} checkpoints)"


def prune(files: Sequence[Path], keep: int) -> None:
    """Delete all checkpoints of a run, in the order of their timesteps, but the last ones.

    Times of files do not count, because a machine's clock may be set back.
    """
    for path in files[:-keep]:
        path.unlink(missing_ok=True)


def size_of(state: Any) -> int:
    """Bytes of all arrays and tensors in a State."""
    if isinstance(state, Mapping):
        return sum(map(size_of, state.values()))
    if isinstance(state, (list, tuple)):
        return sum(map(size_of, state))
    return int(getattr(state, "nbytes", 0))


def _write_model(run: Run) -> None:
    _save(run, Path(os.path.join(str(run.out), "model")), checkpoint.model_in_training(run))


def _save(run: Run, path: Path, state: State) -> None:
    """Write a state; RlkError, as for any failed write, if the serializer refuses what it holds."""
    try:
        saved_files.save(run, path, lambda _: state)
    except (TypeError, ValueError) as error:
        raise RlkError(f"{run.plan.serializer.title} cannot hold the state: {error}") from error


def _writes(run: Run) -> bool:
    return run.out is not None and run.communicator.rank == 0
