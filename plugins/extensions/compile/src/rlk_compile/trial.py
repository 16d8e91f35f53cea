"""Compares a compiled update with the eager one: do they make the same step, and how fast?"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import attrs
import torch
from torch import Tensor

from rlk_compile.python_state import PythonState
from rlk_compile.trace import Untraceable, reason_of

#: The largest allowed relative difference between the two steps; rounding gives far less.
TOLERANCE = 0.01
#: How often each update is run to time it.
TRIALS = 3


class Compared(NamedTuple):
    """Seconds of one eager and of one compiled update (the best of a few), and the relative
    difference of their steps."""

    eager: float
    compiled: float
    difference: float


@attrs.frozen
class Report:
    """The result for one kind of update.

    Attributes:
        strategy: how it was compiled. seconds: how long it took to compile or to load.
        eager, compiled, difference: see `Compared`.
        from_cache: whether it was found on disk.
        why_not: why better strategies were not used; "" if there were none.
        not_cached: why it is not kept on disk for the next start; "" if it is.
    """

    strategy: str
    seconds: float
    eager: float
    compiled: float
    difference: float
    from_cache: bool = False
    why_not: str = ""
    not_cached: str = ""


def tried(
    eager: Callable[[], Any],
    compiled: Callable[[], Any],
    fixed: Sequence[Tensor],
    owners: Sequence[object],
) -> Compared:
    """Compare one eager update with a compiled one, and time both.

    Args:
        eager, compiled: functions that make one update. fixed: tensors that they write to; these
            are restored.
        owners: objects whose attributes the update must not change.

    Raises:
        Untraceable: if the steps differ by more than `TOLERANCE`, the compiled update fails, or the
            eager one changes state that is not a tensor.
    """
    expected, after = _outcome(eager, fixed)
    state = PythonState(owners)
    eager_seconds = _time(eager, fixed)
    changed = state.put_back()
    if changed:
        raise Untraceable(f"it changes {changed}, which is not a tensor: a graph would not")
    try:
        found, compiled_after = _outcome(compiled, fixed)
    except Exception as error:
        raise Untraceable(f"compiled, it fails: {reason_of(error)}") from error
    steps = _difference(fixed, after, compiled_after)
    difference = _largest((steps, _difference_of_reports(expected, found)))
    if not difference <= TOLERANCE:
        by = f"by {difference:.0%} " if math.isfinite(difference) else ""
        raise Untraceable(f"compiled, its step differs {by}from the eager one")
    return Compared(eager_seconds, _time(compiled, fixed), difference)


@contextmanager
def restored(fixed: Sequence[Tensor]) -> Iterator[None]:
    """Restores tensors and torch's random generators on exit, also after an exception."""
    before = [tensor.clone() for tensor in fixed]
    devices = sorted({t.device.index or 0 for t in fixed if t.device.type == "cuda"})
    with torch.random.fork_rng(devices=devices):
        try:
            yield
        finally:
            with torch.no_grad():
                for tensor, value in zip(fixed, before, strict=True):
                    tensor.copy_(value)


def _outcome(update: Callable[[], Any], fixed: Sequence[Tensor]) -> tuple[Any, list[Tensor]]:
    """What an update returns, and copies of the tensors that it has written to."""
    with restored(fixed):
        result = update()
        return result, [tensor.clone() for tensor in fixed]


def _time(update: Callable[[], Any], fixed: Sequence[Tensor]) -> float:
    best = float("inf")
    for _ in range(TRIALS):
        with restored(fixed):
            began = time.perf_counter()
            update()
            if any(tensor.device.type == "cuda" for tensor in fixed):
                torch.cuda.synchronize()
            best = min(best, time.perf_counter() - began)
    return best


def _difference(before: Sequence[Tensor], one: Sequence[Tensor], other: Sequence[Tensor]) -> float:
    """The largest difference between two outcomes, relative to the change from before to `one`."""
    differences = []
    for start, a, b in zip(before, one, other, strict=True):
        if not a.is_floating_point():
            differences.append(0.0 if torch.equal(a, b) else float("inf"))
            continue
        a, b, start = a.double(), b.double(), start.double()
        gap = float(_norm(a - b, a, b))
        # A step may be as small as the rounding error of the values, which must not count.
        scale = float(_norm(a - start, a, b)) + 1e-5 * float(_norm(a, a, b))
        differences.append(gap / scale if scale > 0 else (0.0 if gap == 0 else float("inf")))
    return _largest(differences)


def _largest(differences: Iterable[float]) -> float:
    """The largest of these, 0 of none; infinite if one is NaN, which `max` would leave out."""
    return max((float("inf") if math.isnan(each) else each for each in differences), default=0.0)


def _norm(values: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """The norm of the values, without places where a and b are the same infinity or both NaN."""
    alike = (a == b) | (a.isnan() & b.isnan())
    return torch.where(alike & ~values.isfinite(), 0.0, values).norm()


def _difference_of_reports(one: Any, other: Any) -> float:
    """The largest difference between metrics or td_errors, relative to their size plus 0.01."""
    pairs = [(one.metrics[name], other.metrics[name]) for name in one.metrics]
    if one.td_error is not None:
        pairs.append((one.td_error, other.td_error))
    differences = []
    for a, b in pairs:
        a, b = torch.as_tensor(a).double(), torch.as_tensor(b).double()
        differences.append(float(_norm(a - b, a, b)) / (float(_norm(a, a, b)) + 0.01))
    return _largest(differences)
