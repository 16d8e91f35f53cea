"""When a program may be called: for which batches, and how long what it assumes is believed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from torch import Tensor

from rlk_compile.call_plan import CallPlan
from rlk_compile.conditions import Scope
from rlk_compile.program import CHECK_EVERY, Program, scope_of
from rlk_compile.trace import Retraced


@dataclass
class Small:
    """A batch."""

    x: Any = field(default_factory=lambda: torch.ones(2, 2))
    named: Any = field(default_factory=lambda: {"y": torch.zeros(1)})


class Inherits(Small):
    """A batch of another class."""


class Update:
    """What the update's expressions find."""

    def __init__(self) -> None:
        self.flat, self.rate, self.scale = torch.zeros(2), torch.tensor(0.5), 2.0


class Made:
    """A program for an update, which adds the batch to `flat`; and when it looked at conditions."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.update, self.batch = Update(), Small()
        self.calls, self.looks = 0, list[int]()
        places = ["L['function'].scale", "L['function'].rate"]
        call_plan = CallPlan(
            inputs=(("L['function'].flat", True), None, None),
            paths=(("x",), ("named", "y")),
            metrics={"loss": 0, "rate": 1},
            td_error=None,
            stays=("L['function'].rate",),
            conditions=scope_of(self.update, self.batch, None).describe(places),
            sources=None,
        )
        self.program = Program(call_plan, self.execute, self.update, self.batch, None)
        find_all = Scope.find_all

        def look(scope: Scope, expressions: Any) -> Any:
            self.looks.append(self.calls)
            return find_all(scope, expressions)

        monkeypatch.setattr(Scope, "find_all", look)

    def execute(self, flat: Tensor, x: Tensor, y: Tensor) -> Sequence[Tensor]:
        flat += x.sum() + y.sum()
        return [x.mean()]

    def run(self, times: int = 1) -> Any:
        for _ in range(times):
            self.calls += 1
            tensors = self.program.fitting(self.batch)
            assert tensors is not None
            found = self.program(self.batch, None, tensors)
        return found


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Made:
    return Made(monkeypatch)


def test_what_it_computes_and_what_stays_is_reported(made: Made) -> None:
    found = made.run()
    assert {name: float(value) for name, value in found.metrics.items()} == {
        "loss": 1.0,
        "rate": 0.5,
    }
    assert found.td_error is None and made.update.flat.tolist() == [4.0, 4.0]
    assert [tensor.data_ptr() for tensor in made.program.fixed] == [made.update.flat.data_ptr()]


@pytest.mark.parametrize(
    "batch",
    [
        Small(torch.ones(2, 3)),
        Small(torch.ones(2, 2).T),
        Small(torch.ones(2, 2).double()),
        Small(torch.ones(2, 2, device="meta")),
        Small(0.5),
        Small(named={}),
        Small(named=None),
        Inherits(),
    ],
    ids=["shape", "stride", "dtype", "device", "no tensor", "no such key", "no mapping", "class"],
)
def test_a_batch_of_another_kind_does_not_fit(made: Made, batch: Small) -> None:
    assert made.program.fitting(made.batch) is not None
    assert made.program.fitting(batch) is None


def test_a_batch_that_lacks_a_field_does_not_fit(made: Made) -> None:
    batch = Small()
    del batch.x
    assert made.program.fitting(batch) is None


def test_conditions_are_looked_at_three_times_then_now_and_then_and_when_told(made: Made) -> None:
    made.run(3 + CHECK_EVERY)
    assert made.looks == [1, 2, 3, 3 + CHECK_EVERY]
    made.run(2)
    made.program.check_soon()
    made.run(2)
    assert made.looks[4:] == [6 + CHECK_EVERY]


@pytest.mark.parametrize("change", [{"scale": 3.0}, {"rate": 0.5}])
def test_what_has_changed_is_noticed_before_anything_is_executed(made: Made, change: Any) -> None:
    made.run(3)
    before = made.update.flat.clone()
    vars(made.update).update(change)
    made.program.check_soon()
    for _ in range(2):
        with pytest.raises(Retraced):
            made.run()
    assert made.update.flat.equal(before)


@pytest.mark.parametrize("gone", ["scale", "flat"])
def test_what_is_gone_is_noticed(made: Made, gone: str) -> None:
    made.run(3)
    delattr(made.update, gone)
    made.program.check_soon()
    with pytest.raises(Retraced):
        made.run()


def test_a_tensor_that_was_replaced_once_is_used_and_watched_again(made: Made) -> None:
    made.run(3)
    made.update.flat, made.update.rate = torch.zeros(2), torch.tensor(0.25)
    made.program.check_soon()
    found = made.run()
    assert made.update.flat.tolist() == [4.0, 4.0] and float(found.metrics["rate"]) == 0.25
    made.run(5)
    assert made.looks == [1, 2, 3, 4, 5, 6]


def test_a_tensor_may_be_replaced_now_and_then_but_not_at_every_update(made: Made) -> None:
    made.run(1)
    for _ in range(2):
        made.update.flat = torch.zeros(2)
        made.run(1)
        made.run(1)
    made.update.flat = torch.zeros(2)
    made.run(1)
    made.update.flat = torch.zeros(2)
    with pytest.raises(Retraced):
        made.run(1)
    assert made.update.flat.tolist() == [0.0, 0.0]
