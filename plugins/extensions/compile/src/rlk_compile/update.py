"""What stands in the place of an algorithm's update: a compiled program where there is one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from rlk_compile.backend import compiler, ways
from rlk_compile.config import CompileConfig
from rlk_compile.leaves import key_of, size_of
from rlk_compile.program import Program, Report
from rlk_compile.trace import Retraced, Untraceable

if TYPE_CHECKING:
    from rlk.run import Run

#: Says one line to whoever watches the run.
Say = Callable[[str], None]


class CompiledUpdate:
    """Compiles the first batch of each kind that comes, and runs the rest as it can.

    Attributes:
        reports: (key, batch size) -> what became of it, for those that were compiled.
        reasons: key -> why updates of that kind run eagerly.
        calls, eager_calls: updates so far, and those of a size that is not compiled.
    """

    def __init__(
        self, update: Callable[..., Any], run: Run, config: CompileConfig, say: Say
    ) -> None:
        self._update, self._run, self._config, self._say = update, run, config, say
        self._programs: dict[str, list[Program]] = {}
        self._sizes: dict[str, list[int]] = {}
        self.reports: dict[tuple[str, int], Report] = {}
        self.reasons: dict[str, str] = {}
        self.calls = self.eager_calls = 0

    @property
    def seconds(self) -> float:
        """What tracing and compiling took so far."""
        return sum(report.seconds for report in self.reports.values())

    def __call__(self, batch: Any, optimise: Any) -> Any:
        self.calls += 1
        key = batch.key if hasattr(batch, "key") else ""
        for program in self._programs.get(key, ()):
            tensors = program.read(batch)
            if program.fits(tensors):
                try:
                    return program(batch, optimise, tensors)
                except Retraced:
                    self._give_up(key, "what it does depends on something that is no tensor and "
                                  "no batch.key, and that changed")  # fmt: skip
                    break
        return self._another(key, batch, optimise)

    def _another(self, key: str, batch: Any, optimise: Any) -> Any:
        """An update that fits no program: compile it, if it may be, or run it eagerly."""
        size, sizes = size_of(batch), self._sizes.setdefault(key, [])
        if key not in self.reasons:
            if size not in sizes and len(sizes) < self._config.sizes:
                sizes.append(size)
            known = (key, size) in self.reports
            if size in sizes and not known:
                self._compile(key, size, batch, optimise)
                if key not in self.reasons:
                    program = self._programs[key][-1]
                    return program(batch, optimise, program.read(batch))
        if key not in self.reasons:
            self.eager_calls += 1
        return self._update(batch, optimise)

    def _compile(self, key: str, size: int, batch: Any, optimise: Any) -> None:
        run, failure, program = self._run, "", None
        owners = [run.algorithm, optimise, *optimise.steps.values(), *run.policy.modules()]
        try:
            device, ranks = torch.device(run.device).type, run.communicator.size
            tried = ways(self._config, device, compiler(), ranks)
            program = Program(self._update, batch, optimise, tried, owners)
        except Untraceable as error:
            failure = str(error)
        if self._all(program is not None):
            assert program is not None
            try:
                self.reports[key, size] = program.try_out(batch, optimise)
            except Untraceable as error:
                failure = str(error)
            if self._all(not failure):
                self._programs.setdefault(key, []).append(program)
                self._say(_told(self._title(key), size, self.reports[key, size]))
                return
            self.reports.pop((key, size), None)
        self._give_up(key, failure or "it cannot be compiled on another rank")

    def _all(self, fine: bool) -> bool:
        """Whether it is fine on all ranks: one that runs eagerly averages in another order."""
        if self._run.communicator.size == 1:
            return fine
        return float(self._run.communicator.mean(torch.tensor(float(fine)))) == 1.0

    def _give_up(self, key: str, reason: str) -> None:
        self.reasons[key] = reason
        self._programs.pop(key, None)
        self._say(f"{self._title(key)} runs eagerly: {reason}.")

    def _title(self, key: str) -> str:
        name = self._run.plan.algorithm.name
        return f"the update {key!r} of {name}" if key else f"the update of {name}"

    # ---- what the extension asks ----------------------------------------------------------------

    def check_soon(self) -> None:
        """Something may have been loaded or set since the last update: look at the guards."""
        for programs in self._programs.values():
            for program in programs:
                program.check_soon()

    def state_dict(self) -> dict[str, Any]:
        """Which batch sizes are compiled: a resumed run must take the same."""
        return {"sizes": {key: list(sizes) for key, sizes in self._sizes.items()}}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """What `state_dict` gave."""
        self._sizes = {key: [int(size) for size in sizes] for key, sizes in state["sizes"].items()}


def _told(title: str, size: int, report: Report) -> str:
    speed = f"{_shown(report.eager)} became {_shown(report.compiled)} per update of {size}"
    slower = " (slower: leave compile out)" if report.compiled > report.eager else ""
    parts = [
        f"{title} is one graph, compiled in {report.seconds:.1f} s ({report.way}): {speed}{slower}, "
        f"its step the same to {report.difference:.0e}."
    ]
    if report.why_not:
        parts.append(f"Not compiled in a better way: {report.why_not}.")
    if report.guarded:
        parts.append(f"Dynamo checks its guards at every call: {report.guarded}.")
    return " ".join(parts)


def _shown(seconds: float) -> str:
    return f"{seconds * 1e6:.0f} µs" if seconds < 1e-3 else f"{seconds * 1e3:.1f} ms"
