"""What a call plan takes from a trace: its conditions, its outputs, and what it refuses."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from rlk.records import Update
from rlk_compile.call_plan import _expressions, _outputs, _sources
from rlk_compile.trace import Guard, Recorder, Untraceable

X = torch.zeros(2)


def test_all_that_is_guarded_is_watched_but_torchs_own_and_tensors_of_the_batch() -> None:
    guards = [
        Guard("TENSOR_MATCH", "L['batch'].reward", X),
        Guard("GRAD_MODE", "", None),
        Guard("ID_MATCH", "G['__import_torch_dot_nn'].Linear", torch.nn.Linear),
        Guard("HASATTR", "hasattr(G['___unnamed_scope_7'], 'x')", None),
        Guard("EQUALS_MATCH", "L['batch'].key", "once"),
        Guard("TENSOR_MATCH", "L['function'].rate", X),
        Guard("TYPE_MATCH", "L['function'].rate", X),
        Guard("TYPE_MATCH", "L['function'].held", object()),
    ]
    assert _expressions(guards) == [
        "L['batch'].key",
        "L['function'].rate",
        "L['function'].held",
    ]


@pytest.mark.parametrize(
    "guard",
    [
        Guard("ID_MATCH", "", None),
        Guard("CONSTANT_MATCH", "L['function'].held", object()),
        Guard("EQUALS_MATCH", "L['function'].held", object()),
        Guard("SET_CONTAINS", "L['function'].held", {object()}),
    ],
)
def test_what_cannot_be_compared_is_refused(guard: Guard) -> None:
    with pytest.raises(Untraceable, match=f"cannot be watched: {guard.kind}"):
        _expressions([guard])


def recorded(*outputs: Any) -> Recorder:
    """A recorder of one input that stays, at `L['function'].rate`, and of these outputs."""
    recorder = Recorder()
    recorder.inputs, recorder.places, recorder.outputs = (X,), ["L['function'].rate"], outputs
    return recorder


def test_outputs_are_counted_and_what_stays_follows_them() -> None:
    loss, error, other = torch.zeros(()), torch.zeros(3), torch.ones(3)
    recorder = recorded(loss, error)
    metrics = {"loss": loss, "rate": X, "again": X}
    found = _outputs(recorder, [0], Update(metrics, error))
    place = "L['function'].rate"
    assert found == ({"loss": 0, "rate": 2, "again": 3}, 1, (place, place))
    assert _outputs(recorder, [0], Update({})) == ({}, None, ())
    with pytest.raises(Untraceable, match="something else than what it computed"):
        _outputs(recorder, [0], Update({"loss": other}))
    with pytest.raises(Untraceable, match="something else than what it computed"):
        _outputs(recorder, [], Update({"rate": X}))


@pytest.mark.parametrize(
    ("result", "why"), [({"loss": X}, "it returns a dict"), (Update(None), "metrics are not")]
)  # type: ignore[arg-type]
def test_what_is_no_update_is_refused(result: Any, why: str) -> None:
    with pytest.raises(Untraceable, match=why):
        _outputs(recorded(X), [0], result)


def test_code_in_no_file_gives_a_call_plan_for_this_process_only() -> None:
    code = compile("1", "<notebook>", "eval")
    trace: Any = SimpleNamespace(recorder=SimpleNamespace(code=[code]), guards=[])
    assert _sources(trace) is None
