"""From an update to a graph: what Dynamo records, and the flat tensors that it works on."""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, fx

#: What executes a graph: tensors in, tensors out, in the graph's order.
Execute = Callable[..., Sequence[Any]]


class Untraceable(Exception):
    """The update cannot be one graph; the text says why, in one line."""


class Retraced(Exception):
    """A guard of the graph failed: the update would have to be traced anew."""


class _Recorded(Exception):
    """The graph is there, and was not executed."""


class Recorder:
    """The backend that Dynamo gives its graph to.

    Attributes:
        graph: what was traced. traces: how often.
        execute: what runs in its place; None only records.
        inputs, outputs: the tensors of its latest execution, in the graph's order.
    """

    def __init__(self) -> None:
        self.graph: fx.GraphModule | None = None
        self.traces = 0
        self.execute: Execute | None = None
        self.inputs: tuple[Any, ...] = ()
        self.outputs: tuple[Any, ...] = ()

    def __call__(self, graph: fx.GraphModule, examples: list[Any]) -> Execute:
        self.traces += 1
        if self.traces > 1:
            return _refuse
        self.graph = graph

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
        recorder: with the graph and its inputs.

    Raises:
        Untraceable: with Dynamo's reason.
    """

    def __init__(self, function: Callable[..., Any], batch: Any, optimise: Any) -> None:
        self.recorder = Recorder()
        self._compiled = torch.compile(
            _with_code_of_its_own(function), fullgraph=True, dynamic=False, backend=self.recorder
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

    def __call__(self, batch: Any, optimise: Any) -> Any:
        """Call the update through Dynamo, which checks that the graph still is what it does.

        Raises:
            Retraced: if it is not. Nothing has happened then.
        """
        try:
            with torch._dynamo.config.patch(trace_autograd_ops=True):
                return self._compiled(batch, optimise)
        except torch._dynamo.exc.TorchDynamoException as error:
            if self.recorder.graph is None:
                raise
            raise Retraced from error


def _with_code_of_its_own(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function with a new code object.

    Dynamo keeps its graphs, and counts how many there are, by code object: two runs in one process
    would share both.
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
    """The first line of what torch said, and where in the update it happened."""
    text = str(error).strip()
    line = text.splitlines()[0].strip() if text else type(error).__name__
    stack = getattr(error, "real_stack", None)
    where = f" ({stack[-1].filename.rpartition('/')[2]}:{stack[-1].lineno})" if stack else ""
    return f"{line}{where}"


class FlatInputs:
    """What the compiled function is called with instead of the graph's own inputs.

    Parameters, which require gradients and are views of a flat tensor that the update writes to,
    are made in the graph: from one flat tensor for each memory. A compiler that sees both needs to
    put them together at every call (20 µs), and to copy what it wrote.

    Args:
        graph: as Dynamo recorded it. inputs: its tensors.
        moving: numbers of the inputs that are another tensor at every call.

    Attributes:
        graph: the same with flat inputs.
        moving: their numbers in `gather(inputs)`, in the same order.
    """

    def __init__(
        self, graph: fx.GraphModule, inputs: Sequence[Tensor], moving: Sequence[int]
    ) -> None:
        #: Input -> whether all of its memory is meant, as a flat tensor.
        self._taken: list[tuple[int, bool]] = []
        made = fx.Graph()
        nodes = [node for node in graph.graph.nodes if node.op == "placeholder"]
        by_memory = _by_memory(inputs, set(moving))
        placed: dict[int, fx.Node] = {}
        flats: dict[int, fx.Node] = {}
        for number, node in enumerate(nodes):
            together = by_memory.get(number)
            if together is None:
                placed[number] = made.placeholder(node.name)
                self._taken.append((number, False))
            elif together not in flats:
                flats[together] = made.placeholder(f"flat_{together}")
                self._taken.append((number, True))
        for number, together in by_memory.items():
            placed[number] = _view(made, flats[together], inputs[number])
        order = [number for number, _ in self._taken]
        self.moving = [order.index(number) for number in moving]
        known = {node: placed[number] for number, node in enumerate(nodes)}
        for node in graph.graph.nodes:
            if node.op == "output":
                made.output(fx.map_arg(node.args[0], lambda each: known[each]))
            elif node.op != "placeholder":
                known[node] = made.node_copy(node, lambda each: known[each])
        self.graph = fx.GraphModule(graph, made)

    def gather(self, inputs: Sequence[Tensor]) -> list[Tensor]:
        """What to call the compiled function with, for these inputs of the original graph."""
        return [_memory(inputs[n]) if whole else inputs[n] for n, whole in self._taken]


def _by_memory(inputs: Sequence[Tensor], moving: set[int]) -> dict[int, int]:
    """Input -> a number of the memory that it shares, for those that are to become views of it."""
    sharing: dict[int, list[int]] = {}
    for number, tensor in enumerate(inputs):
        if number not in moving and tensor.numel():
            sharing.setdefault(tensor.untyped_storage().data_ptr(), []).append(number)
    found = {}
    for numbers in sharing.values():
        if len(numbers) == 1 and not inputs[numbers[0]].requires_grad:
            continue
        if len({inputs[number].dtype for number in numbers}) > 1:
            raise Untraceable("two of its tensors share memory and differ in dtype")
        found.update(dict.fromkeys(numbers, numbers[0]))
    return found


def _memory(tensor: Tensor) -> Tensor:
    """All of the memory behind a tensor, as a flat tensor."""
    storage = tensor.untyped_storage()
    flat = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
    size = storage.nbytes() // tensor.element_size()
    return flat.set_(storage, 0, (size,), (1,))


def _view(graph: fx.Graph, flat: fx.Node, tensor: Tensor) -> fx.Node:
    place = (tuple(tensor.shape), tuple(tensor.stride()), tensor.storage_offset())
    view = graph.call_function(torch.as_strided, (flat, *place))
    if tensor.requires_grad:
        view = graph.call_method("requires_grad_", (graph.call_method("detach", (view,)),))
    return view
