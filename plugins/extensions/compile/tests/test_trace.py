"""Graphs with flat inputs, the tensors of a batch, and Python state that must not change."""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from torch import Tensor, fx, nn

from rlk_compile.flat_inputs import FlatInputs
from rlk_compile.leaves import kind, leaves, reader, size_of
from rlk_compile.python_state import PythonState
from rlk_compile.trace import Retraced, Trace, Untraceable
from rlk_testing.stand_ins import StandInParameters


@dataclass
class Small:
    """A batch."""

    x: Tensor
    named: Mapping[str, Tensor] = field(default_factory=dict)
    index: Any = None


# ---- leaves --------------------------------------------------------------------------------------


def test_tensors_are_found_in_fields_and_in_mappings() -> None:
    x, y = torch.zeros(3, 2), torch.ones(3)
    batch = Small(x, {"y": y}, index=[torch.zeros(1)])
    assert {path: id(t) for path, t in leaves(batch).items()} == {
        ("x",): id(x),
        ("named", "y"): id(y),
    }
    assert list(leaves(Small(x, types.MappingProxyType({"y": y})))) == [("x",), ("named", "y")]
    assert size_of(Small(torch.tensor(1.0), {"y": y})) == 3, "a number has no length"
    assert leaves((x, y)) == {} and size_of(batch) == 3 and size_of((x, y)) == 0


def test_readers_fetch_in_the_order_they_were_told() -> None:
    x, y = torch.zeros(3), torch.ones(3)
    batch = Small(x, {"y": y}, index=y)
    for paths, expected in (
        ([], ()),
        ([("x",)], (x,)),
        ([("index",), ("x",)], (y, x)),
        ([("named", "y"), ("x",)], (y, x)),
    ):
        found = reader(paths)(batch)
        assert [id(t) for t in found] == [id(t) for t in expected]


def test_the_kind_of_a_tensor_tells_shape_stride_dtype_and_device() -> None:
    x = torch.zeros(2, 3)
    kinds = [x, x.T, x.double(), torch.zeros(3, 3), x.clone()]
    assert [kind(t) == kind(x) for t in kinds] == [True, False, False, False, True]
    square = torch.zeros(2, 2)
    assert kind(square.T) != kind(square) != kind(torch.zeros(2, 2, device="meta"))


# ---- flat inputs ---------------------------------------------------------------------------------


class Model:
    """Two layers in one flat tensor, and a target network."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        self.net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
        self.flat = StandInParameters(self.net)
        self.target = self.flat.clone()

    def update(self, batch: Small, optimise: Any) -> Tensor:
        with torch.no_grad():
            wanted = self.target.module(batch.x)
        loss = (self.net(batch.x) - wanted - 1.0).square().mean()
        found = torch.autograd.grad(loss, self.flat.select()[0])
        with torch.no_grad():
            self.flat.flat.sub_(0.1 * torch.cat([g.reshape(-1) for g in found]))
            # What follows sees the step: the second loss is of the parameters as they are now.
            after = (self.net(batch.x) - wanted - 1.0).square().mean()
            self.target.flat.lerp_(self.flat.flat, 0.5)
        return after


def test_one_flat_tensor_takes_the_place_of_all_its_views() -> None:
    model, twin = Model(), Model()
    batch = Small(torch.tensor([[1.0, 2.0], [3.0, -1.0]]))
    trace = Trace(model.update, batch, None)
    inputs, graph = trace.recorder.inputs, trace.recorder.graph
    assert graph is not None
    moving = [n for n, tensor in enumerate(inputs) if tensor is batch.x]
    flat = FlatInputs(graph, inputs, moving)
    given = flat.gather(inputs)
    assert len(inputs) == 4 + 4 + 2 + 1, "the parameters of both, two flat tensors, one batch"
    assert sorted(tuple(t.shape) for t in given) == [(2, 2), (13,), (13,)]
    assert not any(t.requires_grad for t in given)
    for _ in range(3):
        (after,) = flat.graph(*given)
        expected = twin.update(batch, None)
        assert torch.allclose(after, expected)
    assert torch.allclose(model.flat.flat, twin.flat.flat)
    assert torch.allclose(model.target.flat, twin.target.flat)
    assert model.flat.flat.data_ptr() in [t.data_ptr() for t in given]


def test_a_tensor_of_the_batch_is_never_put_together_with_another() -> None:
    model = Model()
    memory = torch.arange(8.0)
    batch = Small(memory[:4].view(2, 2), {"y": memory[4:].view(2, 2)})

    def update(batch: Small, optimise: Any) -> Tensor:
        return model.net(batch.x + batch.named["y"]).sum()

    trace = Trace(update, batch, None)
    inputs = trace.recorder.inputs
    own = {id(batch.x), id(batch.named["y"])}
    moving = [n for n, tensor in enumerate(inputs) if id(tensor) in own]
    assert trace.recorder.graph is not None and len(moving) == 2
    flat = FlatInputs(trace.recorder.graph, inputs, moving)
    given = flat.gather(inputs)
    assert [id(given[n]) for n in flat.moving] == [id(inputs[n]) for n in moving]
    assert torch.allclose(flat.graph(*given)[0], update(batch, None))


def test_memory_that_is_read_as_two_dtypes_is_refused() -> None:
    one = torch.zeros(2)
    other = one.view(torch.int32)

    def update(batch: Small, optimise: Any) -> Tensor:
        return (one * batch.x).sum() + other.sum()

    batch = Small(torch.ones(2))
    trace = Trace(update, batch, None)
    assert trace.recorder.graph is not None
    with pytest.raises(Untraceable, match="differ in dtype"):
        FlatInputs(trace.recorder.graph, trace.recorder.inputs, [])


def flattened(update: Any, batch: Small) -> tuple[FlatInputs, list[Tensor]]:
    """The flat inputs of an update's graph, and the inputs to call it with."""
    trace = Trace(update, batch, None)
    inputs = trace.recorder.inputs
    assert trace.recorder.graph is not None
    moving = [number for number, tensor in enumerate(inputs) if tensor is batch.x]
    flat = FlatInputs(trace.recorder.graph, inputs, moving)
    return flat, flat.gather(inputs)


def test_inputs_of_the_batch_are_counted_among_the_flat_ones() -> None:
    layer, batch = nn.Linear(2, 1), Small(torch.ones(1, 2))
    StandInParameters(layer)  # puts both of its parameters into one memory

    def update(batch: Small, optimise: Any) -> Tensor:
        return layer.weight.sum() * layer.bias * batch.x

    flat, given = flattened(update, batch)
    assert len(given) == 2 and flat.moving == [1] and given[1] is batch.x
    assert flat.graph(*given)[0].equal(update(batch, None))


def test_a_parameter_alone_in_its_memory_is_made_from_a_flat_input_too() -> None:
    rate, batch = nn.Parameter(torch.tensor([2.0, 3.0])), Small(torch.ones(2))

    def update(batch: Small, optimise: Any) -> Tensor:
        (slopes,) = torch.autograd.grad((rate * rate * batch.x).sum(), (rate,))
        return slopes

    flat, given = flattened(update, batch)
    assert not any(tensor.requires_grad for tensor in given)
    assert flat.graph(*given)[0].tolist() == [4.0, 6.0]


def test_views_have_strides_of_their_own() -> None:
    memory = torch.arange(6.0)
    one, other = memory.view(2, 3).T, memory[1:].as_strided((2,), (3,))

    def update(batch: Small, optimise: Any) -> Tensor:
        return (one @ batch.x) * other.sum()

    flat, given = flattened(update, Small(torch.tensor([1.0, 10.0])))
    assert len(given) == 2
    assert flat.graph(*given)[0].tolist() == [150.0, 205.0, 260.0]


def test_tensors_without_elements_share_no_memory() -> None:
    one, other = torch.zeros(0), torch.zeros(0, dtype=torch.int64)

    def update(batch: Small, optimise: Any) -> Tensor:
        return batch.x + one.sum() + other.sum()

    flat, given = flattened(update, Small(torch.ones(2)))
    assert len(given) == 3 and flat.graph(*given)[0].tolist() == [1.0, 1.0]


# ---- tracing -------------------------------------------------------------------------------------


def test_a_trace_executes_nothing() -> None:
    model = Model()
    before = model.flat.flat.clone()
    Trace(model.update, Small(torch.ones(1, 2)), None)
    assert model.flat.flat.equal(before)


def test_what_cannot_be_traced_says_what_and_where() -> None:
    def update(batch: Small, optimise: Any) -> Tensor:
        return batch.x if batch.x.sum() > 0 else -batch.x

    with pytest.raises(Untraceable, match=r"[Dd]ata-dependent.*\(test_trace.py:\d+\)"):
        Trace(update, Small(torch.ones(2)), None)


def test_an_update_without_tensors_has_no_graph() -> None:
    with pytest.raises(Untraceable, match="no tensor operation"):
        Trace(lambda batch, optimise: 1, Small(torch.ones(2)), None)


def test_whatever_error_a_trace_ends_with_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(self: Trace, batch: Any, optimise: Any) -> None:
        raise ValueError("what nobody foresaw")

    monkeypatch.setattr(Trace, "__call__", fails)
    with pytest.raises(Untraceable, match=r"^what nobody foresaw$"):
        Trace(lambda batch, optimise: batch.x, Small(torch.ones(2)), None)


def test_a_graph_that_takes_numbers_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def numbers(self: Trace, batch: Any, optimise: Any) -> None:
        self.recorder.graph, self.recorder.inputs = fx.GraphModule({}, fx.Graph()), (batch.x, 3)

    monkeypatch.setattr(Trace, "__call__", numbers)
    with pytest.raises(Untraceable, match="numbers that change as inputs"):
        Trace(lambda batch, optimise: batch.x, Small(torch.ones(2)), None)


def test_a_guard_that_fails_executes_nothing() -> None:
    factors = [2.0]

    def update(batch: Small, optimise: Any) -> Tensor:
        return batch.x * factors[0]

    batch = Small(torch.ones(2))
    trace = Trace(update, batch, None)
    trace.recorder.execute = trace.recorder.graph
    assert trace(batch, None).tolist() == [2.0, 2.0]
    factors[0] = 3.0
    with pytest.raises(Retraced):
        trace(batch, None)


def test_two_traces_of_one_function_know_nothing_of_each_other() -> None:
    def update(batch: Small, optimise: Any) -> Tensor:
        return batch.x * 2.0

    for _ in range(12):  # more than the eight that Dynamo keeps for one code object
        assert Trace(update, Small(torch.ones(2)), None).recorder.traces == 1


# ---- state in Python -----------------------------------------------------------------------------


class Inner:
    def __init__(self) -> None:
        self.count = 0


class Owner:
    def __init__(self) -> None:
        self.rate, self.inner = 0.5, Inner()
        self.seen, self.names, self.last = [1], {"a": 1, "b": 2}, deque([1, 2], maxlen=2)
        self.kinds: set[Any] = {"one"}


def test_nothing_has_changed_if_nothing_has() -> None:
    state = PythonState([Owner()])
    assert state.changed() == "" and state.put_back() == ""
    owner = Owner()
    owner.kinds = {8}
    owner.kinds.add(0)
    state = PythonState([owner])
    owner.kinds.clear()
    owner.kinds.update([0, 8])
    assert state.changed() == "", "a set has no order"


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda o: setattr(o, "rate", 0.25), "Owner.rate"),
        (lambda o: setattr(o, "new", 1), "Owner.new"),
        (lambda o: delattr(o, "rate"), "Owner.rate"),
        (lambda o: setattr(o.inner, "count", 1), "Inner.count"),
        (lambda o: o.seen.append(2), "Owner.seen"),
        (lambda o: o.names.update(a=2), "Owner.names"),
        (lambda o: o.last.append(3), "Owner.last"),
        (lambda o: o.seen.clear(), "Owner.seen"),
        (lambda o: o.names.pop("b"), "Owner.names"),
        (lambda o: o.names.update(c=3), "Owner.names"),
        (lambda o: o.names.update(a=o.names.pop("a")), "Owner.names"),
        (lambda o: o.names.update(a=1.0), "Owner.names"),
        (lambda o: o.kinds.add("other"), "Owner.kinds"),
        (lambda o: (o.kinds.clear(), o.kinds.add("other")), "Owner.kinds"),
        (lambda o: setattr(o, "seen", [1]), "Owner.seen"),
        (lambda o: o.seen.__setitem__(0, True), "Owner.seen"),
    ],
)
def test_what_has_changed_is_named_and_put_back(change: Any, named: str) -> None:
    owner, fresh = Owner(), Owner()
    state = PythonState([owner])
    change(owner)
    assert state.changed() == named
    assert state.put_back() == named
    assert state.changed() == ""
    assert repr({**vars(owner), "inner": 0}) == repr({**vars(fresh), "inner": 0}), "in its order"
    assert vars(owner.inner) == vars(fresh.inner)


def test_modules_and_objects_of_the_kernel_are_watched_as_owners_only() -> None:
    class Run:
        """Counts, as the kernel's objects do."""

    class Net(nn.Linear):
        """A module of the user's own."""

    Run.__module__ = "rlk.running.run"
    owner: Any = Owner()
    owner.net, owner.run = Net(1, 1), Run()
    state, with_both = PythonState([owner]), PythonState([owner, owner.net, owner.run])
    owner.net.seen = 1
    assert state.changed() == "" and with_both.changed() == "Net.seen"
    del owner.net.seen
    owner.run.seen = 1
    assert state.changed() == "" and with_both.changed() == "Run.seen"
