"""All that is needed to call a compiled update again, in this process or in another one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
from torch import Tensor

from rlk.records import Update
from rlk_compile.conditions import Conditions, Scope, Unknown, tells_apart
from rlk_compile.flat_inputs import FlatInputs, memory
from rlk_compile.leaves import Path, leaves
from rlk_compile.sources import Sources, Unwritten, sources
from rlk_compile.trace import Guard, Recorder, Trace, Untraceable

#: Guards that are not recorded: on global state of torch, and on shapes, which are fixed here.
GLOBAL = {
    "AUTOGRAD_SAVED_TENSORS_HOOKS",
    "DEFAULT_DEVICE",
    "DETERMINISTIC_ALGORITHMS",
    "GLOBAL_STATE",
    "GRAD_MODE",
    "SHAPE_ENV",
    "TORCH_FUNCTION_STATE",
}
#: Guards on a value itself, whose description must then distinguish it from other values.
VALUES = {"CONSTANT_MATCH", "EQUALS_MATCH", "SET_CONTAINS"}
#: The expression that finds the batch.
BATCH = "L['batch']"
#: Modules of torch, and the globals of methods that `typing.NamedTuple` makes: their name is new in
#: every process, and nobody changes them.
_TORCHS_OWN = ("G['__import_torch", "G['___unnamed_scope")


@attrs.frozen(kw_only=True)
class CallPlan:
    """The inputs and outputs of a compiled update, and the conditions under which it is valid.

    Attributes:
        inputs: one entry for each input of the compiled function: None if it comes from the batch,
            else the expression that finds the tensor, and whether all of its memory is passed.
        paths: places in the batch of the inputs that come from it, in order.
        metrics: name -> number of an output; numbers beyond the last output count on in `stays`.
        td_error: such a number, or None.
        stays: expressions that find tensors which the update reports without computing them, such
            as a coefficient.
        conditions: expression -> description of the object that it must find.
        sources: files that must be unchanged; None if not all code is in files, so that no other
            process may use the call plan.
        strategy: how it was compiled, in words.
    """

    inputs: tuple[tuple[str, bool] | None, ...]
    paths: tuple[Path, ...]
    metrics: dict[str, int]
    td_error: int | None
    stays: tuple[str, ...]
    conditions: Conditions
    sources: Sources | None
    strategy: str = ""

    @property
    def moving(self) -> list[int]:
        """Numbers of the inputs that come from the batch."""
        return [number for number, place in enumerate(self.inputs) if place is None]

    def gather(self, scope: Scope, batch: Sequence[Tensor]) -> list[Tensor]:
        """The inputs of the compiled function: found by their expressions, or of the batch.

        Raises:
            Unknown: if one is not found.
        """
        coming = iter(batch)
        return [next(coming) if place is None else _found(scope, *place) for place in self.inputs]

    def to_json(self) -> str:
        return json.dumps(attrs.asdict(self))

    @staticmethod
    def from_json(text: str) -> CallPlan:
        """The call plan that `to_json` wrote.

        Raises:
            ValueError, TypeError, KeyError: if the text was not written by it.
        """
        fields = json.loads(text)
        fields["inputs"] = tuple(None if each is None else tuple(each) for each in fields["inputs"])
        fields["paths"] = tuple(tuple(path) for path in fields["paths"])
        fields["stays"] = tuple(fields["stays"])
        return CallPlan(**fields)


def _found(scope: Scope, place: str, whole: bool) -> Tensor:
    tensor: Tensor = scope.find(place)
    return memory(tensor) if whole else tensor


def moving(batch: Any, inputs: Sequence[Tensor]) -> tuple[list[Path], list[int]]:
    """(places in the batch, numbers) of the inputs that come from the batch.

    Raises:
        Untraceable: if two fields of the batch are the same tensor.
    """
    found = leaves(batch)
    by_tensor = {id(tensor): path for path, tensor in found.items()}
    if len(by_tensor) < len(found):
        raise Untraceable("two fields of the batch are one tensor")
    numbers = [number for number, tensor in enumerate(inputs) if id(tensor) in by_tensor]
    return [by_tensor[id(inputs[number])] for number in numbers], numbers


def call_plan_of(trace: Trace, flat: FlatInputs, scope: Scope, batch: Any, result: Any) -> CallPlan:
    """The call plan of an update that was traced and has been executed once.

    Args:
        result: what the execution returned.

    Raises:
        Untraceable: if a call plan cannot describe its inputs, its outputs or its conditions.
    """
    recorder = trace.recorder
    paths, numbers = moving(batch, recorder.inputs)
    fixed = [number for number in range(len(recorder.inputs)) if number not in numbers]
    deep = [place for n in fixed if (place := recorder.places[n]).startswith(BATCH)]
    if deep:
        raise Untraceable(f"it reads {deep[0]}, which is not a field of the batch nor in a mapping")
    metrics, td_error, stays = _outputs(recorder, fixed, result)
    places = [(recorder.places[number], whole) for number, whole in flat.taken]
    try:
        conditions = scope.describe(_expressions(trace.guards))
    except Unknown as error:
        raise Untraceable(f"what it depends on cannot be watched: {error}") from error
    return CallPlan(
        inputs=tuple(None if n in flat.moving else place for n, place in enumerate(places)),
        paths=tuple(paths),
        metrics=metrics,
        td_error=td_error,
        stays=stays,
        conditions=conditions,
        sources=_sources(trace),
    )


def _outputs(
    recorder: Recorder, fixed: Sequence[int], result: Any
) -> tuple[dict[str, int], int | None, tuple[str, ...]]:
    """(metrics, td_error, stays), as in `CallPlan`, of what the update has returned."""
    if type(result) is not Update:
        raise Untraceable(f"it returns a {type(result).__name__}, not an Update")
    if not isinstance(result.metrics, Mapping):
        raise Untraceable("its metrics are not a dict")
    outputs = {id(value): number for number, value in enumerate(recorder.outputs)}
    inputs = {id(recorder.inputs[number]): recorder.places[number] for number in fixed}
    stays: list[str] = []

    def number_of(value: Any) -> int:
        if id(value) in outputs:
            return outputs[id(value)]
        if id(value) not in inputs:
            raise Untraceable("it reports something else than what it computed")
        stays.append(inputs[id(value)])
        return len(recorder.outputs) + len(stays) - 1

    metrics = {name: number_of(value) for name, value in result.metrics.items()}
    return metrics, None if result.td_error is None else number_of(result.td_error), tuple(stays)


def _expressions(guards: Sequence[Guard]) -> list[str]:
    """The expressions of all guarded objects, except torch's own and the tensors of the batch.

    Raises:
        Untraceable: if a guard cannot be replaced by an expression and a description.
    """
    found: dict[str, None] = {}
    for guard in guards:
        of_batch = guard.place.startswith(BATCH) and isinstance(guard.value, Tensor)
        of_torch = any(name in guard.place for name in _TORCHS_OWN)
        if guard.kind in GLOBAL or of_torch or of_batch:
            continue
        if not guard.place or (guard.kind in VALUES and not tells_apart(guard.value)):
            raise Untraceable(f"what it depends on cannot be watched: {guard.kind} {guard.place}")
        found[guard.place] = None
    return list(found)


def _sources(trace: Trace) -> Sources | None:
    try:
        return sources(trace.recorder.code, [guard.value for guard in trace.guards])
    except Unwritten:
        return None
