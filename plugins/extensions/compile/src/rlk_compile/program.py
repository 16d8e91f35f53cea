"""One kind of update at one batch size, compiled, and called with little overhead."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor

from rlk.records import Update
from rlk_compile import trace
from rlk_compile.call_plan import CallPlan
from rlk_compile.conditions import Scope, Unknown, descriptions
from rlk_compile.leaves import kind, reader
from rlk_compile.signs import signs_of
from rlk_compile.structure import Structure
from rlk_compile.trace import Execute, Retraced

#: Once confirmed, the call plan's conditions are checked again after so many updates.
CHECK_EVERY = 512
#: Until so many checks in a row have found the same fixed tensors, every update is checked.
CONFIRMATIONS = 3


class Program:
    """`update(batch, optimise)`, compiled for batches like the one given here.

    The compiled function is called directly with tensors. Dynamo's guards, and the frame that it
    puts around a graph, would cost 80 µs, more than a small update; the call plan has the
    conditions that they check.

    Raises:
        Unknown: if a tensor of the call plan cannot be found.
    """

    def __init__(
        self,
        call_plan: CallPlan,
        execute: Execute,
        update: Callable[..., Any],
        batch: Any,
        optimise: Any,
    ) -> None:
        self.call_plan, self._execute, self._update = call_plan, execute, update
        self._read = reader(list(call_plan.paths))
        tensors = self._read(batch)
        self._structure = Structure(batch, call_plan.conditions)
        self._kinds = [kind(tensor) for tensor in tensors]
        self._moving = call_plan.moving
        self._find(scope_of(update, batch, optimise), tensors)
        self._moved, self._confirmed, self._until_check = False, 0, 0
        self._signs: list[Any] | None = None

    @property
    def fixed(self) -> list[Tensor]:
        """The tensors that it may write to: all inputs except those of the batch."""
        return [t for number, t in enumerate(self._inputs) if number not in self._moving]

    def fitting(self, batch: Any) -> Sequence[Tensor] | None:
        """The batch's tensors in the call plan's order; None if it was compiled for other batches.

        Their shapes, strides, dtypes and devices must be the same, and the batch's structure.
        """
        try:
            if not self._structure.fits(batch):
                return None
            tensors = self._read(batch)
            for tensor, (shape, stride, dtype, device) in zip(tensors, self._kinds, strict=True):
                if (
                    tensor.shape != shape
                    or tensor.stride() != stride
                    or tensor.dtype is not dtype
                    or tensor.device != device
                ):
                    return None
        except (AttributeError, LookupError, TypeError):  # something is missing, or is no tensor
            return None
        return tensors

    def __call__(self, batch: Any, optimise: Any, tensors: Sequence[Tensor]) -> Update:
        """Run the update; `tensors` is the result of `fitting(batch)`.

        Raises:
            Retraced: if something that the call plan assumes has changed. No state has been changed
                then.
        """
        if self._until_check == 0:
            self._check(batch, optimise, tensors)
        self._until_check -= 1
        return self.call(tensors)

    def call(self, tensors: Sequence[Tensor]) -> Update:
        """Run the update without checking the conditions."""
        given, call_plan = self._inputs.copy(), self.call_plan
        for number, tensor in zip(self._moving, tensors, strict=True):
            given[number] = tensor
        out = [*self._execute(*given), *self._stays]
        error = None if call_plan.td_error is None else out[call_plan.td_error]
        return Update({name: out[number] for name, number in call_plan.metrics.items()}, error)

    def check_soon(self) -> None:
        """Check the conditions at the next call."""
        self._until_check = 0

    def _check(self, batch: Any, optimise: Any, tensors: Sequence[Tensor]) -> None:
        scope, before = scope_of(self._update, batch, optimise), self._inputs
        try:
            self._compare(scope.find_all(self.call_plan.conditions))
            self._find(scope, tensors)
        except Unknown as error:
            raise Retraced from error
        moved = any(
            one.data_ptr() != other.data_ptr()
            for number, (one, other) in enumerate(zip(before, self._inputs, strict=True))
            if number not in self._moving
        )
        if moved and self._moved:  # twice in a row: probably a new tensor at every update
            raise Retraced
        self._confirmed = 1 if moved else self._confirmed + 1
        self._moved = moved
        self._until_check = CHECK_EVERY if self._confirmed >= CONFIRMATIONS else 1

    def _compare(self, values: list[Any]) -> None:
        """Compare the objects of the conditions with their descriptions, if anything changed.

        Raises:
            Retraced: if one has another description.
        """
        signs = signs_of(values)
        if signs != self._signs:
            if descriptions(values) != [*self.call_plan.conditions.values()]:
                raise Retraced
            self._signs = signs

    def _find(self, scope: Scope, tensors: Sequence[Tensor]) -> None:
        self._inputs = self.call_plan.gather(scope, tensors)
        self._stays = [scope.find(place) for place in self.call_plan.stays]


def scope_of(update: Callable[..., Any], batch: Any, optimise: Any) -> Scope:
    """The scope in which the expressions of a trace of this update are evaluated."""
    return Scope(update, batch, optimise, vars(trace))
