"""Replaces an algorithm's update by a compiled program where there is one."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import attrs
import torch

from rlk_compile.backend import strategies
from rlk_compile.building import built
from rlk_compile.config import CompileConfig
from rlk_compile.kept import cached_programs
from rlk_compile.kept.cache import Cache, usable_cache
from rlk_compile.kept.cache_key import key as key_of
from rlk_compile.leaves import size_of
from rlk_compile.passes import ready
from rlk_compile.program import Program
from rlk_compile.python_state import PythonState
from rlk_compile.trace import Retraced, Stopped, Untraceable
from rlk_compile.trial import Compared, Report, tried
from rlk_cpp_libraries import compiler

if TYPE_CHECKING:
    from rlk.running.run import Run

Made = TypeVar("Made")
CHANGED = (
    "what it does depends on something that is neither a tensor nor batch.key, and that changed; "
    "a plugin fills a tensor that its loss reads (copy_), and does not replace it"
)
RESUMED = "it did when this run was saved, and a resumed run does what an uninterrupted one does"


class CompiledUpdate:
    """Compiles the update at the first batch of each kind, and runs later batches with it.

    Args:
        update: the algorithm's `update(batch, optimise)`.
        run: the algorithm's run. config: how to compile.
        say: prints a message.

    Attributes:
        reports: (key, batch size) -> report, for the updates that were compiled.
        reasons: key -> why updates of this kind run eagerly.
        calls: number of updates so far.
        eager_calls: number of updates of a compiled kind that ran eagerly because of their batch.
        unlike_calls: those among them whose batch has a compiled size, but another structure.
    """

    def __init__(
        self,
        update: Callable[..., Any],
        run: Run,
        config: CompileConfig,
        say: Callable[[str], None],
    ) -> None:
        self._update, self._run, self._config, self._say = update, run, config, say
        self._programs: dict[str, list[Program]] = {}
        self._sizes: dict[str, list[int]] = {}
        self._stopped = False  # whether nothing more is compiled in this training
        self.reports: dict[tuple[str, int], Report] = {}
        self.reasons: dict[str, str] = {}
        self.calls = self.eager_calls = self.unlike_calls = 0

    @property
    def seconds(self) -> float:
        """Seconds that tracing, compiling and loading have taken so far."""
        return sum(report.seconds for report in self.reports.values())

    def __call__(self, batch: Any, optimise: Any) -> Any:
        self.calls += 1
        key = batch.key if hasattr(batch, "key") else ""
        for program in self._programs.get(key, ()):
            tensors = program.fitting(batch)
            if tensors is not None:
                return self._run_program(program, key, batch, optimise, tensors)
        made = None if key in self.reasons else self._another(key, batch, optimise)
        if made is None:
            return self._update(batch, optimise)
        return self._run_program(made, key, batch, optimise, made.fitting(batch))

    def _run_program(
        self, program: Program, key: str, batch: Any, optimise: Any, tensors: Any
    ) -> Any:
        try:
            return program(batch, optimise, tensors)
        except Retraced:
            self._give_up(key, CHANGED)
            return self._update(batch, optimise)

    def _another(self, key: str, batch: Any, optimise: Any) -> Program | None:
        """Compile a program for a batch that fits no other, if one more may be compiled."""
        size, sizes = size_of(batch), self._sizes.setdefault(key, [])
        if size not in sizes and len(sizes) < self._config.sizes:
            sizes.append(size)
        if size not in sizes or (key, size) in self.reports:
            self.eager_calls += 1
            self.unlike_calls += size in sizes
            return None
        return self._compile(key, size, batch, optimise)

    def _compile(self, key: str, size: int, batch: Any, optimise: Any) -> Program | None:
        if self._stopped:
            return None
        before = PythonState(self._owners(optimise))
        try:
            program, report = self._acquire(batch, optimise)
        except Untraceable as error:
            before.put_back()  # the eager update makes what the trial made and kept
            self._give_up(key, str(error))
            return None
        except Stopped:
            before.put_back()
            self._stopped = True
            self._say(f"{self._title(key)} runs eagerly and is not compiled: the run is to end.")
            return None
        self.reports[key, size] = report
        self._programs.setdefault(key, []).append(program)
        self._say(described(self._title(key), size, report))
        return program

    def _acquire(self, batch: Any, optimise: Any) -> tuple[Program, Report]:
        """A program from the cache, or one that is built now; both are tried out first."""
        run, began = self._run, time.perf_counter()
        device, ranks = torch.device(run.device).type, run.communicator.size
        wanted = self._config.passes if self._config.backend == "inductor" else ()
        passes, why_not = ready(wanted, device, run.plan.kernel)
        cxx = compiler()
        possible = strategies(self._config, device, cxx, ranks, passes)
        keep = self._config.keep and possible[0].ahead
        cache, not_cached = usable_cache() if keep else (None, "")
        key = "" if cache is None else key_of(self._update, batch, possible, cxx)
        if cache is not None:
            found = self._find(cache, key, batch, optimise)
            if found is not None:
                return found[0], attrs.evolve(found[1], why_not=why_not)
        owners = self._owners(optimise)
        program, made = built(
            self._update, batch, optimise, possible, owners, self._together, self._check_stop
        )
        seconds = time.perf_counter() - began
        compared = self._together(lambda: self._try(program, batch, optimise))
        if cache is not None:
            not_cached = cached_programs.add(cache, key, program, made)
        why_not = "; ".join(filter(None, (why_not, made.why_not)))
        return program, Report(
            str(made.strategy), seconds, *compared, why_not=why_not, not_cached=not_cached
        )

    def _find(
        self, cache: Cache, key: str, batch: Any, optimise: Any
    ) -> tuple[Program, Report] | None:
        began = time.perf_counter()
        for program, entry in cached_programs.candidates(cache, key, self._update, batch, optimise):
            seconds = time.perf_counter() - began
            try:
                compared = self._try(program, batch, optimise)
            except Untraceable:  # it makes another step than the call plan promised
                cache.remove(entry)
                continue
            cache.mark_used(entry)
            return program, Report(entry.call_plan.strategy, seconds, *compared, from_cache=True)
        return None

    def _try(self, program: Program, batch: Any, optimise: Any) -> Compared:
        eager, tensors = self._update, program.fitting(batch)
        assert tensors is not None
        return tried(
            lambda: eager(batch, optimise),
            lambda: program.call(tensors),
            program.fixed,
            self._owners(optimise),
        )

    def _owners(self, optimise: Any) -> list[object]:
        """Objects whose attributes an update must not change."""
        run = self._run
        return [run.algorithm, optimise, *optimise.steps.values(), *run.policy.modules()]

    def _check_stop(self) -> None:
        """Raise Stopped if the run was told to end: an eager update is done much sooner."""
        if self._run.stop_asked:
            raise Stopped

    def _together(self, step: Callable[[], Made]) -> Made:
        """Run a step of compiling; it fails or is stopped on all ranks if it is on one.

        A rank that ran eagerly would average its tensors in another order than the others.
        """
        made, failure, vote = None, "another rank cannot", 0.0
        communicator = self._run.communicator
        try:
            made, vote = step(), 1.0
        except Untraceable as error:
            failure = str(error)
        except Stopped:
            vote = -float(communicator.size)  # the mean is negative, whatever the others vote
        if communicator.size > 1:
            vote = float(communicator.mean(torch.tensor(vote)))
        if vote < 0.0:
            raise Stopped
        if vote < 1.0:
            raise Untraceable(failure)
        assert made is not None
        return made

    def _give_up(self, key: str, reason: str) -> None:
        self.reasons[key] = reason
        self._programs.pop(key, None)
        self._say(f"{self._title(key)} runs eagerly: {reason.rstrip('.')}.")

    def _title(self, key: str) -> str:
        name = self._run.plan.algorithm.name
        return f"the update {key!r} of {name}" if key else f"the update of {name}"

    # ---- called by the extension -----------------------------------------------------------------

    def training_starts(self) -> None:
        """Compile again if the previous training was told to end before; check the conditions."""
        self._stopped = False
        self.check_soon()

    def check_soon(self) -> None:
        """Check the conditions at the next update: something may have been loaded or set."""
        for programs in self._programs.values():
            for program in programs:
                program.check_soon()

    def state_dict(self) -> dict[str, Any]:
        """The batch sizes that are compiled, and the kinds of updates that run eagerly.

        A resumed run must compile the same ones.
        """
        sizes = {key: list(sizes) for key, sizes in self._sizes.items()}
        return {"sizes": sizes, "eager": list(self.reasons)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore the result of `state_dict`."""
        self._sizes = {key: [int(size) for size in sizes] for key, sizes in state["sizes"].items()}
        self.reasons = {}
        for key in state["eager"]:
            self._give_up(str(key), RESUMED)


def described(title: str, size: int, report: Report) -> str:
    """The message about one compiled update."""
    slower = ", which is slower: leave compile out" if report.compiled > report.eager else ""
    how = "found compiled" if report.from_cache else "compiled"
    text = (
        f"{title} is one graph, {how} in {report.seconds:.1f} s ({report.strategy}): "
        f"{_shown(report.eager)} became {_shown(report.compiled)} per update of {size}{slower}. "
        f"Its step is the same to {report.difference:.0e}."
    )
    if report.why_not:
        text += f" Not compiled in a better way: {report.why_not}."
    if report.not_cached:
        text += f" It is not kept for the next start: {report.not_cached}."
    return text


def _shown(seconds: float) -> str:
    return f"{seconds * 1e6:.0f} µs" if seconds < 1e-3 else f"{seconds * 1e3:.1f} ms"
