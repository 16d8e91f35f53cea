"""One kind of update at one batch size, compiled, tried, and called with as little as it needs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import attrs
import torch
from torch import Tensor

from rlk.records import Update
from rlk_compile.backend import Way, first_that_works
from rlk_compile.leaves import Path, kind, leaves, reader
from rlk_compile.python_state import PythonState
from rlk_compile.trace import FlatInputs, Trace, Untraceable, reason_of

#: A compiled update may differ from the eager one by this part of its step: rounding does not.
TOLERANCE = 0.01
#: Every so many updates Dynamo looks at its guards again.
CHECK_EVERY = 512
#: Calls in a row that must find the same tensors outside of the batch: the one that tries it out
#: and the first update have one batch, the second has another.
CONFIRMATIONS = 3
#: Times that an update is tried eagerly and compiled, to time it.
TRIALS = 3


@attrs.frozen
class Report:
    """What became of one kind of update.

    Attributes:
        way: how it was compiled. why_not: why better ways were not taken, "" if there were none.
        seconds: that tracing and compiling took.
        eager, compiled: seconds of one update, the best of a few.
        difference: between the two, as a part of the step.
        guarded: why Dynamo checks its guards at every call, "" if it need not.
    """

    way: Way
    why_not: str
    seconds: float
    eager: float
    compiled: float
    difference: float
    guarded: str


class Program:
    """`update(batch, optimise)` for batches like the first.

    The compiled function is called directly with the batch's tensors, after their kinds were
    compared: Dynamo's guards and the frame that it puts around a graph cost 80 µs, more than a
    small update. Whether that is sound is found out, not assumed: the first two updates go through
    Dynamo and must differ in nothing but the batch, and so must one in `CHECK_EVERY`.

    Args:
        tried: ways to compile, best first.
        owners: objects whose attributes the update must leave alone.

    Raises:
        Untraceable: the update cannot be one graph.
    """

    def __init__(
        self,
        update: Callable[..., Any],
        batch: Any,
        optimise: Any,
        tried: Sequence[Way],
        owners: Sequence[object] = (),
    ) -> None:
        began = time.perf_counter()
        self._update, self._owners = update, owners
        paths = self._record(batch, optimise)
        state = PythonState(owners)
        with self._restored():
            update(batch, optimise)
        if state.changed():  # what is made at the first call, and kept, is there now
            paths = self._record(batch, optimise)
        self.read = reader(paths)
        self._kinds = [kind(tensor) for tensor in self.read(batch)]

        def make(way: Way) -> Any:
            with self._restored():
                return way.compile(self._flat.graph, self._inputs, self._flat.moving)

        self.way, self._execute, self.why_not = first_that_works(tried, make)
        self._trace.recorder.execute = lambda *given: self._execute(*self._flat.gather(given))
        self.seconds = time.perf_counter() - began
        self._direct: Callable[[Sequence[Tensor]], Update] | None = None
        self._confirmed = self._until_check = 0

    def _record(self, batch: Any, optimise: Any) -> list[Path]:
        """Trace the update; returns where in the batch its inputs are."""
        self._trace = Trace(self._update, batch, optimise)
        inputs, graph = self._trace.recorder.inputs, self._trace.recorder.graph
        assert graph is not None
        paths, self._moving, self.guarded = _moving(batch, inputs)
        self._flat = FlatInputs(graph, inputs, self._moving)
        self._inputs = self._flat.gather(inputs)
        self._fixed = [t for n, t in enumerate(self._inputs) if n not in self._flat.moving]
        return paths

    def fits(self, tensors: Sequence[Tensor]) -> bool:
        """Whether these are tensors like those that it was compiled for."""
        for tensor, (shape, stride, dtype, device) in zip(tensors, self._kinds, strict=True):
            if (
                tensor.shape != shape
                or tensor.stride() != stride
                or tensor.dtype is not dtype
                or tensor.device != device
            ):
                return False
        return True

    def __call__(self, batch: Any, optimise: Any, tensors: Sequence[Tensor]) -> Any:
        """The update; `tensors` is what `read` gave.

        Raises:
            Retraced: what it does depends on something that is no tensor, and changed.
        """
        if self._until_check > 0 and self._direct is not None:
            self._until_check -= 1
            return self._direct(tensors)
        return self._checked(batch, optimise)

    def check_soon(self) -> None:
        """Let Dynamo look at its guards at the next call."""
        self._until_check = 0

    def _checked(self, batch: Any, optimise: Any) -> Any:
        """Through Dynamo; afterwards it is known whether the next call may be direct."""
        result = self._trace(batch, optimise)
        if self.guarded:
            return result
        recorder = self._trace.recorder
        inputs = self._flat.gather(recorder.inputs)
        moving = set(self._flat.moving)
        same = all(
            now.data_ptr() == before.data_ptr() and now.shape == before.shape
            for number, (now, before) in enumerate(zip(inputs, self._inputs, strict=True))
            if number not in moving
        )
        if not same:  # something was replaced, or comes with every batch: the next calls will tell
            self._inputs, self._confirmed, self._direct = inputs, 1, None
            return result
        self._confirmed += 1
        if self._confirmed >= CONFIRMATIONS:
            self._until_check = CHECK_EVERY
        try:
            self._direct = self._direct or self._directly(result)
        except Untraceable as error:
            self.guarded = str(error)
        return result

    def _directly(self, result: Any) -> Callable[[Sequence[Tensor]], Update]:
        """The function from the batch's tensors to the Update that this result is an example of."""
        if type(result) is not Update:
            raise Untraceable(f"it returns a {type(result).__name__}, not an Update")
        recorder, moving = self._trace.recorder, self._flat.moving
        # An update may also report a tensor that it was given and that stays (a coefficient).
        stays = [t for n, t in enumerate(recorder.inputs) if n not in self._moving]
        places = {id(value): n for n, value in enumerate([*recorder.outputs, *stays])}
        reported = [*result.metrics.values(), result.td_error]
        if not all(value is None or id(value) in places for value in reported):
            raise Untraceable("it reports something else than what it computed")
        metrics = [(name, places[id(value)]) for name, value in result.metrics.items()]
        error = None if result.td_error is None else places[id(result.td_error)]
        execute, inputs = self._execute, self._inputs

        def direct(tensors: Sequence[Tensor]) -> Update:
            given = inputs.copy()
            for number, tensor in zip(moving, tensors, strict=True):
                given[number] = tensor
            out = [*execute(*given), *stays]
            return Update(
                {name: out[place] for name, place in metrics}, None if error is None else out[error]
            )

        return direct

    # ---- trying it ------------------------------------------------------------------------------

    def try_out(self, batch: Any, optimise: Any) -> Report:
        """Compare it with the eager update on this batch, and time both; nothing stays changed.

        Raises:
            Untraceable: if they differ by more than rounding, or the eager update changes state
                that is no tensor.
        """
        tensors = self.read(batch)
        expected, after = self._outcome(lambda: self._update(batch, optimise))
        state = PythonState(self._owners)
        eager = self._time(lambda: self._update(batch, optimise))
        changed = state.put_back()
        if changed:
            raise Untraceable(f"it changes {changed}, which is no tensor: a graph would not")
        try:
            found, compiled_after = self._outcome(lambda: self._trace(batch, optimise))
        except Exception as error:
            raise Untraceable(f"compiled, it fails: {reason_of(error)}") from error
        difference = max(
            _difference(self._fixed, after, compiled_after), _difference_of_reports(expected, found)
        )
        if not difference <= TOLERANCE:
            raise Untraceable(f"compiled, its step differs by {difference:.0%} from the eager one")
        with self._restored():
            self._checked(batch, optimise)
        direct = self._direct
        if direct is None:
            compiled = self._time(lambda: self._trace(batch, optimise))
        else:
            compiled = self._time(lambda: direct(tensors))
        return Report(
            self.way, self.why_not, self.seconds, eager, compiled, difference, self.guarded
        )

    @contextmanager
    def _restored(self) -> Iterator[None]:
        """Whatever happens inside, tensors and torch's generators are as before afterwards."""
        before = [tensor.clone() for tensor in self._fixed]
        devices = sorted({t.device.index or 0 for t in self._fixed if t.device.type == "cuda"})
        with torch.random.fork_rng(devices=devices):
            try:
                yield
            finally:
                with torch.no_grad():
                    for tensor, value in zip(self._fixed, before, strict=True):
                        tensor.copy_(value)

    def _outcome(self, update: Callable[[], Any]) -> tuple[Any, list[Tensor]]:
        """What an update returns, and what it makes of the tensors that it writes to."""
        with self._restored():
            result = update()
            return result, [tensor.clone() for tensor in self._fixed]

    def _time(self, update: Callable[[], Any]) -> float:
        best = float("inf")
        for _ in range(TRIALS):
            with self._restored():
                began = time.perf_counter()
                update()
                if any(tensor.device.type == "cuda" for tensor in self._fixed):
                    torch.cuda.synchronize()
                best = min(best, time.perf_counter() - began)
        return best


def _moving(batch: Any, inputs: Sequence[Tensor]) -> tuple[list[Path], list[int], str]:
    """Where in the batch the inputs are that come from it, their numbers, and what forbids that."""
    found = leaves(batch)
    by_tensor = {id(tensor): path for path, tensor in found.items()}
    numbers = [number for number, tensor in enumerate(inputs) if id(tensor) in by_tensor]
    paths = [by_tensor[id(inputs[number])] for number in numbers]
    if len(by_tensor) < len(found):
        return paths, numbers, "two fields of the batch are one tensor"
    return paths, numbers, ""


def _difference(before: Sequence[Tensor], one: Sequence[Tensor], other: Sequence[Tensor]) -> float:
    """The largest difference of two outcomes, as a part of what the first one changed."""
    worst = 0.0
    for start, a, b in zip(before, one, other, strict=True):
        if not a.is_floating_point():
            worst = max(worst, 0.0 if torch.equal(a, b) else float("inf"))
            continue
        a, b, start = a.double(), b.double(), start.double()
        gap = float(_norm(a - b, a, b))
        # Where a step is as small as the rounding of what it moves, that is no difference.
        scale = float(_norm(a - start, a, b)) + 1e-5 * float(_norm(a, a, b))
        worst = max(worst, gap / scale if scale > 0 else (0.0 if gap == 0 else float("inf")))
    return worst


def _norm(values: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """The norm, leaving out where both are the same infinity or both NaN."""
    alike = (a == b) | (a.isnan() & b.isnan())
    norm: Tensor = torch.where(alike & ~values.isfinite(), 0.0, values).norm()
    return norm


def _difference_of_reports(one: Any, other: Any) -> float:
    """The largest relative difference of what two updates report; small numbers count as 0.01."""
    pairs = [(one.metrics[name], other.metrics[name]) for name in one.metrics]
    if one.td_error is not None:
        pairs.append((one.td_error, other.td_error))
    worst = 0.0
    for a, b in pairs:
        a, b = torch.as_tensor(a).double(), torch.as_tensor(b).double()
        worst = max(worst, float(_norm(a - b, a, b)) / (float(_norm(a, a, b)) + 0.01))
    return worst
