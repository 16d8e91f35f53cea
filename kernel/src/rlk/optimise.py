"""The optimiser seam: `optimise(group, loss_fn, *args)`, and the objective that a step drives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
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
    """What one optimiser moves: a contiguous range of a flat tensor."""

    name: str  #: as the algorithm calls it in `optimise(name, …)`
    parameters: list[nn.Parameter]  #: the views, in the order of the range
    flat: Tensor  #: float [P], their memory
    learning_rate: Tensor  #: 0-dim, filled anew before every collection by its schedule
    max_grad_norm: float | None = None  #: the gradient's norm is clipped to it
    options: Mapping[str, Any] = field(default_factory=dict)  #: of the optimiser (`betas`, `eps`)


@dataclass
class Objective:
    """A loss as its group's optimiser sees it, asked for as often as the optimiser needs."""

    group: Group
    loss_fn: LossFn
    args: tuple[Any, ...]
    communicator: Communicator

    def __post_init__(self) -> None:
        self.mean = self.communicator.mean  #: of a tensor, over ranks
        self.agree = self.communicator.agree  #: on rank 0's value: control flow may use no other

    def evaluate(self) -> Loss:
        """The loss at the parameters as they are now, without gradient."""
        with torch.no_grad():
            return self.loss_fn(*self.args)

    def gradient(self) -> tuple[Loss, Tensor]:
        """The loss and its flat gradient [P], averaged over ranks; zeros for what it does not
        touch. A step happens only if every rank accepts it."""
        loss = self.loss_fn(*self.args)
        gradient = _gradient(loss.value, tuple(self.group.parameters))
        if loss.accept is not None and self.communicator.size > 1:
            loss = replace(loss, accept=self.mean(loss.accept.to(torch.float64)) == 1.0)
        return loss, self.mean(gradient)

    def differentiable(self) -> Loss:
        """The loss with its graph, for optimisers that differentiate it themselves, by the group's
        parameters or by what a layer gives: `Loss.fisher` is of the same graph."""
        return self.loss_fn(*self.args)


def _gradient(value: Tensor, parameters: tuple[Tensor, ...]) -> Tensor:
    if torch.compiler.is_compiling():
        parts = list(torch.autograd.grad(value, parameters, materialize_grads=True))
    else:  # As that function does after 30 µs of checks, which is a tenth of a small update.
        run, ones = torch.autograd.Variable._execution_engine.run_backward, torch.ones_like(value)
        found = run((value,), (ones,), False, False, parameters, True, accumulate_grad=False)
        pairs = zip(found, parameters, strict=True)
        parts = [torch.zeros_like(p) if g is None else g for g, p in pairs]
    return torch._C._nn.flatten_dense_tensors(parts)


def _detached(values: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {key: one.detach() if one.requires_grad else one for key, one in values.items()}


def wrapped(function: Callable[..., Any], wrappers: Iterable[Any]) -> Callable[..., Any]:
    """A function inside all its wrappers, the first innermost."""
    for wrapper in wrappers:
        function = wrapper(function)
        if not callable(function):
            raise RlkError(f"a plugin's wrapper returned {type(function).__name__}, not a function")
    return function


class Optimiser:
    """`optimise(group, loss_fn, *args)`: one step of that group's optimiser; the loss, detached."""

    def __init__(self, communicator: Communicator) -> None:
        self.groups: dict[str, Group] = {}
        self.steps: dict[str, OptimiserStep] = {}
        self._communicator = communicator
        self._wrappers: dict[str, Sequence[Any]] = {}
        self._wrapped: dict[tuple[str, LossFn], LossFn] = {}

    def add(self, group: Group, step: OptimiserStep, wrappers: Sequence[Any] = ()) -> None:
        """Declare a group, what drives it and what wraps its losses."""
        self.groups[group.name], self.steps[group.name] = group, step
        self._wrappers[group.name] = wrappers

    def __call__(self, group: str, loss_fn: LossFn, *args: Any) -> Loss:
        if group not in self.groups:
            raise RlkError(f"no parameter group {group!r}; there are {sorted(self.groups)}")
        if self._wrappers[group]:
            key = (group, loss_fn)  # bound methods compare equal from call to call
            if key not in self._wrapped:
                self._wrapped[key] = wrapped(loss_fn, self._wrappers[group])
            loss_fn = self._wrapped[key]
        objective = Objective(self.groups[group], loss_fn, args, self._communicator)
        loss = self.steps[group].step(objective)
        distribution = None if loss.distribution is None else loss.distribution.detach()
        metrics, outputs = _detached(loss.metrics), _detached(loss.outputs)
        return Loss(loss.value.detach(), distribution, None, loss.accept, metrics, outputs)

    def state_dict(self) -> State:
        return {name: step.state_dict() for name, step in self.steps.items()}

    def load_state_dict(self, state: State) -> None:
        for name, step in self.steps.items():
            step.load_state_dict(state[name])


class OneProcess:
    """The communicator of a run that is alone."""

    rank, size = 0, 1
    mean = agree = staticmethod(lambda value: value)
    gather = staticmethod(lambda value: [value])
