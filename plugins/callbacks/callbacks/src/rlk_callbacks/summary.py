"""`summary`: at the start, the parts of a run; at the end, its result, files and next commands.

The command line and a program print the same, because both use this callback.
"""

from __future__ import annotations

import shutil
import sys
import textwrap
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rlk.command_line import command_line, path_word
from rlk.errors import BadFile
from rlk.hookspecs import hookimpl
from rlk.saving import saved_files
from rlk.saving.run_folder import as_typed
from rlk.spaces import sees_images
from rlk.terminal import is_terminal, output_is_unread, print_on
from rlk_callbacks.stop import is_numbered
from rlk_callbacks.to_pass_again import to_pass_again
from rlk_evaluation.number_text import significant
from rlk_model_files.locate import checkpoints

if TYPE_CHECKING:
    from pathlib import Path

    from rlk.running.run import Run

#: The plugin that saves the last model; where it is active and there is none, its write failed or
#: was interrupted, which is printed elsewhere.
SAVES = "checkpoint"
#: The files of a folder that `rlk plot` draws: with neither, there is no curve.
ROWS = ("monitor.csv", "progress.csv")


class Summary:
    """Prints on standard output. With `verbose=2` the whole plan is printed as well.

    Where nobody reads it any more (`rlk run … | head`), how the run ended is printed as an error.
    """

    def __init__(self) -> None:
        self._began = 0.0
        self._from = 0
        self._announced = False
        self._evaluated: float | None = None  #: the mean return of the latest evaluation
        self._advised: list[str] = []  #: the files and next steps that were printed last

    @hookimpl(tryfirst=True)
    def rlk_training_start(self, run: Run) -> None:
        self._began, self._from = time.monotonic(), run.timesteps
        if not self._announced and _prints(run):
            self._announced = True
            with run.failed_writes.tolerated("summary"):  # as later lines: training goes on
                print_on(sys.stdout, "\n".join(map(_fitted, beginning(run))))

    @hookimpl
    def rlk_evaluation_end(self, result: Any) -> None:
        if is_numbered(result, 1):
            self._evaluated = result.mean_return

    @hookimpl(trylast=True)
    def rlk_training_end(self, run: Run, reason: str | None, failure: BaseException | None) -> None:
        interrupted = isinstance(failure, KeyboardInterrupt)
        unread = output_is_unread(failure)
        if (failure is not None and not interrupted and not unread) or not _prints(run):
            return  # the error itself is printed
        seconds, steps = time.monotonic() - self._began, run.timesteps - self._from
        how = f"stopped by {reason} after" if reason else "done:"
        how = "interrupted after" if interrupted else how
        how = "the reader of the output is gone: stopped after" if unread else how
        speed = f"{steps / max(seconds, 1e-9):,.0f} a second"
        first = _fitted(f"{how} {steps:,} timesteps in {seconds:.1f} s ({speed})")
        lines = [first, *learnt(run, self._evaluated), *self._new_advice(run, reason is not None)]
        print_on(sys.stderr if unread else sys.stdout, "\n".join(lines))

    def _new_advice(self, run: Run, stopped: bool) -> list[str]:
        """Files and next steps, unless they are those that the last call of `learn` printed."""
        advice = list(advised(run, stopped=stopped))
        if advice == self._advised:
            return []
        self._advised = advice
        return advice


def beginning(run: Run) -> Iterator[str]:
    """The lines that describe the parts of a run."""
    plan = run.plan
    why = "as it was asked for"
    if plan.device == "auto":
        lacks_gpu = sees_images(plan.policy_space) and run.device == "cpu"
        why = f"auto: {'there is no GPU' if lacks_gpu else 'a GPU is for images'}"
    yield f"{plan.algorithm.name} on {plan.env.name} x {plan.n_envs}, seed {run.streams.seed}"
    yield from (f"  {note}" for note in plan.notes)
    yield f"  device {run.device} ({why}), {run.parameters.flat.numel():,} parameters"
    into = f" into {as_typed(run)}/" if run.out else ", nothing is written (no folder: out)"
    yield f"  {run.clock.total_timesteps:,} timesteps{into}"
    if plan.verbose > 1:
        yield str(plan)


def learnt(run: Run, evaluated: float | None) -> Iterator[str]:
    """The lines on what was learnt; `evaluated` is the mean return of the latest evaluation."""
    if run.clock.updates == 0:
        yield "  nothing was learnt: training ended before the first update"
    if evaluated is not None:
        yield f"  last evaluation: mean return {significant(evaluated)}"


def advised(run: Run, *, stopped: bool) -> Iterator[str]:
    """The lines on the files of a run, and what to type next.

    Args:
        run: after its training.
        stopped: whether training ended early.
    """
    if run.out is None:
        return
    out, suffix = as_typed(run), run.plan.serializer.make().suffix
    files = [out / f"{name}{suffix}" for name in ("model", "best_model")]
    yield from (f"  {file}" for file in files if file.exists())
    if not _holds(run, out / "model"):
        saves = any(choice.name == SAVES for choice in run.plan.callbacks)
        advice = "" if saves else f"; the plugin {SAVES} saves one"
        yield f"  no last model was saved{advice}"
    written = checkpoints(out, suffix) if stopped else []
    if written:
        yield from _going_on(run, out, written[-1])
    else:
        yield from _next_steps(run, out)


def _going_on(run: Run, out: Path, last: Path) -> Iterator[str]:
    """How to continue a run that was stopped, from its last checkpoint or with its agent."""
    again = to_pass_again(run.plan, observers=True)
    if not again.objects:
        yield f"continue with: {command_line(['rlk', 'resume', path_word(out), *again.options])}"
        return
    left = run.clock.total_timesteps - run.timesteps
    yield f"next, in Python: agent.learn({max(left, 0) or '…'}, reset_num_timesteps=False)"
    loaded = ", ".join([repr(str(last)), *again.keywords, f"out={str(out)!r}"])
    yield f"  if the agent is closed, first: agent = rlk.load({loaded})"


def _next_steps(run: Run, out: Path) -> Iterator[str]:
    """Commands that work as printed, or Python code if no command can do it."""
    again = to_pass_again(run.plan, observers=False)
    has_model = _holds(run, out / "model")
    if again.objects and has_model:
        yield f"next, in Python: rlk.load({str(out)!r}, {', '.join(again.keywords)})"
        return
    options: dict[str, Sequence[str]] = {}
    if has_model:
        options["evaluate"] = again.options
    if has_model or _holds(run, out / "best_model"):
        options["enjoy"] = again.options
    if run.clock.episodes and any((out / name).exists() for name in ROWS):
        options["plot"] = ()
    commands = [one for one in options if one in run.plan.kernel.registries.commands]
    yield from ["next:"] if commands else []
    for command in commands:
        yield f"  {command_line(['rlk', command, path_word(out), *options[command]])}"


def _holds(run: Run, model: Path) -> bool:
    """Whether a model of this name, without its suffix, can be loaded."""
    try:
        saved_files.find(model, run.plan.kernel)
    except BadFile:
        return False
    return True


def _fitted(text: str) -> str:
    """Lines broken between words where a terminal is too narrow for them; a path stays whole."""
    if not is_terminal(sys.stdout):
        return text
    width = shutil.get_terminal_size().columns
    how: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}
    lines = (
        textwrap.wrap(line, width, subsequent_indent="    ", drop_whitespace=True, **how)
        for line in text.splitlines()
    )
    return "\n".join("\n".join(parts) for parts in lines)


def _prints(run: Run) -> bool:
    return bool(run.plan.verbose) and run.communicator.rank == 0
