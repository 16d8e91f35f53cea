"""The optimiser seam.

`optimise(group, loss_fn, *args)`, and the objective that a group's step drives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn

from rlk.errors import RlkError
from rlk.protocols import Communicator, OptimiserStep, State
from rlk.records import Loss

LossFn = Callable[..., Loss]


@dataclass(frozen=True)
class Group:
    """What one optimiser moves: a contiguous range of a flat tensor.

    Attributes:
        name: as the algorithm calls it in `optimise(name, …)`.
        parameters: the views, in the order of the range.
        flat: float [P], their memory.
        learning_rate: 0-dim tensor, filled anew at every iteration border by its schedule.
        max_grad_norm: the gradient's norm is clipped to it; None for no clipping.
        options: further settings of the optimiser (`betas`, `eps`).
    """

    name: str
    parameters: list[nn.Parameter]
    flat: Tensor
    learning_rate: Tensor
    max_grad_norm: float | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


class Objective:
    """A loss as its group's optimiser sees it.

    It may be asked for as often as the optimiser needs.
    """

    def __init__(
        self, group: Group, loss_fn: LossFn, args: tuple[Any, ...], communicator: Communicator
    ) -> None:
        self.group, self._loss_fn, self._args, self._communicator = (
            group,
            loss_fn,
            args,
            communicator,
        )

    def evaluate(self) -> Loss:
        """The loss at the parameters as they are now, without gradient."""
        with torch.no_grad():
            return self._loss_fn(*self._args)

    def gradient(self) -> tuple[Loss, Tensor]:
        """The loss and its flat gradient [P], averaged over ranks.

        Parameters it does not touch get zeros. A step happens only if every rank accepts it.
        """
        loss = self._loss_fn(*self._args)
        if loss.accept is not None and self._communicator.size > 1:
            loss = replace(loss, accept=self.mean(loss.accept.to(torch.float64)) == 1.0)
        parts = gradients(loss.value, self.group.parameters)
        return loss, self.mean(torch._C._nn.flatten_dense_tensors(parts))

    def differentiable(self) -> Loss:
        """The loss with its graph, for optimisers that differentiate it themselves."""
        return self._loss_fn(*self._args)

    def mean(self, tensor: Tensor) -> Tensor:
        """The mean over ranks."""
        return self._communicator.mean(tensor) if self._communicator.size > 1 else tensor


def gradients(value: Tensor, parameters: list[nn.Parameter]) -> list[Tensor]:
    """d value / d parameters; zeros for those it does not depend on.

    Asks the autograd engine directly, as `torch.autograd.grad` does after 30 µs of checks, which is
    a tenth of a small update; a tracing compiler gets the public function.
    """
    if torch.compiler.is_compiling():
        return list(torch.autograd.grad(value, parameters, materialize_grads=True))
    found = torch.autograd.Variable._execution_engine.run_backward(
        (value,),
        (torch.ones_like(value),),
        False,
        False,
        tuple(parameters),
        allow_unreachable=True,
        accumulate_grad=False,
    )
    return [torch.zeros_like(p) if g is None else g for g, p in zip(found, parameters, strict=True)]


class Optimiser:
    """`optimise`: hands each loss to the step of its group. What it returns is detached."""

    def __init__(self, communicator: Communicator) -> None:
        self.groups: dict[str, Group] = {}
        self.steps: dict[str, OptimiserStep] = {}
        self._communicator = communicator
        self._wrappers: dict[str, list[Callable[[LossFn], LossFn]]] = {}
        self._wrapped: dict[tuple[str, Any], LossFn] = {}

    def add(
        self,
        group: Group,
        step: OptimiserStep,
        wrappers: list[Callable[[LossFn], LossFn]] | None = None,
    ) -> None:
        """Declare a group, what drives it and what wraps its losses."""
        self.groups[group.name] = group
        self.steps[group.name] = step
        self._wrappers[group.name] = list(wrappers or [])

    def __call__(self, group: str, loss_fn: LossFn, *args: Any) -> Loss:
        """One step of that group's optimiser on `loss_fn(*args)`."""
        if group not in self.groups:
            raise RlkError(
                f"no parameter group {group!r}; this algorithm declared {sorted(self.groups)}"
            )
        if self._wrappers[group]:
            loss_fn = self._wrap(group, loss_fn)
        objective = Objective(self.groups[group], loss_fn, args, self._communicator)
        loss = self.steps[group].step(objective)
        return Loss(
            loss.value.detach(),
            None if loss.distribution is None else loss.distribution.detach(),
            None,
            loss.accept,
            {name: value.detach() for name, value in loss.metrics.items()},
            {name: value.detach() for name, value in loss.outputs.items()},
        )

    def _wrap(self, group: str, loss_fn: LossFn) -> LossFn:
        """The wrapped function, made once per function.

        Bound methods compare equal from call to call.
        """
        key = (group, loss_fn)
        if key not in self._wrapped:
            wrapped = loss_fn
            for wrapper in self._wrappers[group]:
                wrapped = wrapper(wrapped)
            self._wrapped[key] = wrapped
        return self._wrapped[key]

    def state_dict(self) -> State:
        return {name: step.state_dict() for name, step in self.steps.items()}

    def load_state_dict(self, state: State) -> None:
        for name, step in self.steps.items():
            step.load_state_dict(state[name])


class OneProcess:
    """The communicator of a run that is alone."""

    rank = 0
    size = 1

    def mean(self, tensor: Tensor) -> Tensor:
        return tensor

    def agree(self, value: Any) -> Any:
        return value

    def gather(self, value: Any) -> list[Any]:
        return [value]
