"""Traces an update with Dynamo: its graph, and guards on everything that the graph depends on."""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, fx

#: Executes a graph: takes and returns tensors in the graph's order.
Execute = Callable[..., Sequence[Any]]
#: Key of a node's `meta` for an example of its value. torch's cache refuses graphs that call
#: methods of nodes without one.
EXAMPLE = "example_value"
#: How Dynamo reports an RlkError that the traced code raises.
RAISED = re.compile(r"""raised exception RlkError\((["'])(.*)\1\)""")
#: The first error in what a C++ compiler printed.
OF_COMPILER = re.compile(r": (?:fatal )?error: (.+)")


class Untraceable(Exception):
    """The update cannot be one graph; the message says why, in one line."""


class Stopped(Exception):
    """The run was told to end, so compiling is given up for now; a later training compiles."""


class Retraced(Exception):
    """An assumption of the graph no longer holds: the update would have to be traced again."""


class _Recorded(Exception):
    """The graph has been recorded, and is not to be executed."""


class Guard(NamedTuple):
    """One of Dynamo's guards: how a value is compared, the expression that finds it, and the value.

    The expression is "" if there is none. That an object has an attribute, or is the same as
    another one, is an expression of its own; the value is then the object.
    """

    kind: str
    place: str
    value: Any


class Recorder:
    """A backend for Dynamo that records the graph.

    Attributes:
        graph: the traced graph. traces: how often the update was traced.
        places: the expression that finds each input, in the graph's order.
        code: the code objects that were traced through.
        execute: what is run instead of the graph; None runs nothing.
        inputs, outputs: the tensors of the latest execution, in the graph's order.
    """

    def __init__(self) -> None:
        self.graph: fx.GraphModule | None = None
        self.traces = 0
        self.places: list[str] = []
        self.code: list[types.CodeType] = []
        self.execute: Execute | None = None
        self.inputs: tuple[Any, ...] = ()
        self.outputs: tuple[Any, ...] = ()

    def __call__(self, graph: fx.GraphModule, examples: list[Any]) -> Execute:
        self.traces += 1
        if self.traces > 1:
            return _refuse
        self.graph = graph
        inputs = [node for node in graph.graph.nodes if node.op == "placeholder"]
        self.places = [node._dynamo_source.name for node in inputs]
        self.code = list(torch._guards.TracingContext.get().traced_code)

        def call(*inputs: Any) -> Sequence[Any]:
            self.inputs = inputs
            if self.execute is None:
                raise _Recorded
            self.outputs = tuple(self.execute(*inputs))
            return self.outputs

        return call


def _refuse(*inputs: Any) -> Sequence[Any]:
    raise Retraced


class Trace:
    """`function(batch, optimise)` as one graph.

    Attributes:
        recorder: has the graph and its inputs.
        guards: Dynamo's guards on everything that the trace depended on.

    Raises:
        Untraceable: with Dynamo's reason.
    """

    def __init__(self, function: Callable[..., Any], batch: Any, optimise: Any) -> None:
        self.recorder = Recorder()
        self.guards: list[Guard] = []
        self._compiled = torch.compile(
            _with_code_of_its_own(function),
            fullgraph=True,
            dynamic=False,
            backend=self.recorder,
            options={"guard_filter_fn": self._note},
        )
        if not hasattr(torch._dynamo.config, "trace_autograd_ops"):
            raise Untraceable(f"torch {torch.__version__} cannot trace autograd.grad; 2.13 can")
        try:
            self(batch, optimise)
        except _Recorded:
            pass
        except Exception as error:
            raise Untraceable(reason_of(error)) from error
        if self.recorder.graph is None:
            raise Untraceable("it has no tensor operation to compile")
        if not all(isinstance(value, Tensor) for value in self.recorder.inputs):
            raise Untraceable("it takes numbers that change as inputs, not only tensors")

    def _note(self, guards: Sequence[Any]) -> list[bool]:
        """Record Dynamo's guards; all of them stay active."""
        self.guards = [Guard(each.guard_type, _place(each), each.value) for each in guards]
        return [True] * len(guards)

    def __call__(self, batch: Any, optimise: Any) -> Any:
        """Call the update through Dynamo, which checks that the graph is still valid.

        Raises:
            Retraced: if it is not. No state has been changed then.
        """
        try:
            with torch._dynamo.config.patch(trace_autograd_ops=True):
                return self._compiled(batch, optimise)
        except torch._dynamo.exc.TorchDynamoException as error:
            if self.recorder.graph is None:
                raise
            raise Retraced from error


def _place(guard: Any) -> str:
    """The expression whose value one of Dynamo's guards compares."""
    name: str = guard.orig_guard.name
    if guard.guard_type == "HASATTR":
        return f"hasattr({name}, {guard.orig_guard.create_fn.keywords['attr']!r})"
    if guard.guard_type == "DUPLICATE_INPUT":
        return f"{name} is {guard.orig_guard.create_fn.keywords['source_b'].name}"
    return name


def _with_code_of_its_own(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function with a new code object.

    Dynamo stores and counts graphs by code object, so two runs in one process would share them.
    """

    def update(batch: Any, optimise: Any) -> Any:
        return function(batch, optimise)

    return types.FunctionType(
        update.__code__.replace(),
        update.__globals__,
        update.__name__,
        update.__defaults__,
        update.__closure__,
    )


def reason_of(error: BaseException) -> str:
    """The reason for an error, in one line, and its place in the update.

    The reason is the message of an RlkError that the update raised while it was traced, or the
    first line of torch's message, with the first error of a C++ compiler that it has.
    """
    text = str(error).strip()
    said, compiler = RAISED.search(text), OF_COMPILER.search(text)
    line = text.splitlines()[0].strip() if text else type(error).__name__
    line = f"{line}: {compiler[1]}" if compiler else line
    line = said[2] if said else line
    stack = getattr(error, "real_stack", None)
    where = f" ({stack[-1].filename.rpartition('/')[2]}:{stack[-1].lineno})" if stack else ""
    return f"{line}{where}"
