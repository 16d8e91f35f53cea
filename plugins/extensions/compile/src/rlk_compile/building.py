"""Builds a program from an update: traces it, compiles it with flat inputs, and plans its call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import attrs

from rlk_compile.backend import Built, Strategy, first_that_works
from rlk_compile.call_plan import call_plan_of, moving
from rlk_compile.flat_inputs import FlatInputs
from rlk_compile.program import Program, scope_of
from rlk_compile.python_state import PythonState
from rlk_compile.trace import Trace
from rlk_compile.trial import restored

Made = TypeVar("Made")


class Together(Protocol):
    """Runs a step on every rank and returns its result; raises on all ranks if it fails on one."""

    def __call__(self, step: Callable[[], Made]) -> Made: ...


def built(
    update: Callable[..., Any],
    batch: Any,
    optimise: Any,
    strategies: Sequence[Strategy],
    owners: Sequence[object],
    together: Together,
    check_stop: Callable[[], None],
) -> tuple[Program, Built]:
    """The program of an update, and the result of compiling it.

    Args:
        strategies: best first. owners: objects whose attributes the update must not change.
        together: runs one step on all ranks, so that all of them compile or none.
        check_stop: raises Stopped if the run was told to end; called before each long stage.

    Raises:
        Untraceable: if the update cannot be one graph, or no strategy compiles it.
        Stopped: from `check_stop`, on all ranks.
    """

    def traced() -> tuple[Trace, FlatInputs]:
        check_stop()
        return _traced(update, batch, optimise)

    trace, flat = together(traced)
    state = PythonState(owners)
    with restored(_fixed(trace, flat)):
        update(batch, optimise)
    if state.changed():  # the first call made objects that it keeps, and they exist now
        trace, flat = together(traced)
    inputs, fixed = flat.gather(trace.recorder.inputs), _fixed(trace, flat)

    def make(strategy: Strategy) -> Built:
        check_stop()
        with restored(fixed):
            return strategy.compile(flat.graph, inputs, flat.moving)

    found = together(lambda: first_that_works(strategies, make))
    trace.recorder.execute = lambda *given: found.execute(*flat.gather(given))
    state = PythonState(owners)
    with restored(fixed):  # once through Dynamo, which assembles what the update returns
        result = trace(batch, optimise)
    state.put_back()
    scope = scope_of(update, batch, optimise)
    call_plan = together(lambda: call_plan_of(trace, flat, scope, batch, result))
    call_plan = attrs.evolve(call_plan, strategy=str(found.strategy))
    return Program(call_plan, found.execute, update, batch, optimise), found


def _traced(update: Callable[..., Any], batch: Any, optimise: Any) -> tuple[Trace, FlatInputs]:
    trace = Trace(update, batch, optimise)
    inputs, graph = trace.recorder.inputs, trace.recorder.graph
    assert graph is not None
    return trace, FlatInputs(graph, inputs, moving(batch, inputs)[1])


def _fixed(trace: Trace, flat: FlatInputs) -> list[Any]:
    inputs = flat.gather(trace.recorder.inputs)
    return [tensor for number, tensor in enumerate(inputs) if number not in flat.moving]
