"""The optimiser seam: `optimise(group, loss_fn, *args)`, and the objective of one step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from rlk.errors import RlkError
from rlk.protocols import Arguments, Communicator, OptimiserStep, Parameters, State
from rlk.records import Loss
from rlk.strict_types import own_number
from rlk.wrapping import wrapped

LossFn = Callable[..., Loss]
#: The most loss functions of one group; an algorithm has one or two.
MOST_LOSSES = 8


@dataclass(frozen=True)
class Group:
    """The parameters that one optimiser moves: a contiguous range of a flat tensor."""

    name: str  #: as the algorithm calls it in `optimise(name, …)`
    parameters: list[nn.Parameter]  #: the views, in the order of the range
    flat: Tensor  #: float [P], their memory
    learning_rate: Tensor  #: 0-dim, set by its schedule before every collection
    max_grad_norm: float | None = None  #: the gradient's norm is clipped to this
    options: Mapping[str, Any] = field(default_factory=dict)  #: of the optimiser (`betas`, `eps`)
    owner: Parameters | None = None  #: of which they are a part
    #: The number 1, 0-dim: torch computes with it three times as fast as with a number.
    one: Tensor = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """RlkError for a limit of the gradient's norm that clips nothing, or everything."""
        limit = own_number(self.max_grad_norm)
        if limit is not None and not (isinstance(limit, (int, float)) and limit > 0):
            raise RlkError(
                f"group {self.name!r}: max_grad_norm must be a number above 0, or None for no "
                f"clipping; got {self.max_grad_norm!r:.80}."
            )
        object.__setattr__(self, "one", torch.ones((), device=self.flat.device))

    def check_trainable(self) -> None:
        """RlkError if a parameter was frozen after the group was made."""
        if not all(one.requires_grad for one in self.parameters):
            raise RlkError(
                f"a parameter of group {self.name!r} was frozen (requires_grad_(False)) after the "
                "policy was made. Unfreeze it; freeze layers in the constructor of their module."
            )


@dataclass
class Objective:
    """A loss as its group's optimiser sees it, evaluated as often as the optimiser needs."""

    group: Group
    loss_fn: LossFn
    args: tuple[Any, ...]
    communicator: Communicator
    logged: Set[str] = frozenset()  #: names of the loss's own metrics, once it is computed

    def mean(self, tensor: Tensor) -> Tensor:
        """The mean of a tensor over ranks."""
        return self.communicator.mean(tensor)

    def agree(self, value: Any) -> Any:
        """Rank 0's value, on every rank, for a value that steers control flow."""
        return self.communicator.agree(value)

    def evaluate(self) -> Loss:
        """The loss at the current parameters, without a gradient."""
        with torch.no_grad():
            return self._loss()

    def gradient(self) -> tuple[Loss, Tensor]:
        """The loss and its flat gradient [P], averaged over ranks.

        The gradient is zero where the loss does not depend on a parameter. A step happens only if
        every rank accepts it.
        """
        loss = self.differentiable()
        gradient = _gradient(loss.value, self.group)
        if loss.accept is not None:
            loss = loss._replace(accept=self._everywhere(loss.accept))
        return loss, self.mean(gradient)

    def differentiable(self) -> Loss:
        """The loss with its graph, for an optimiser that differentiates it itself.

        It may differentiate with respect to the group's parameters or to a layer's output;
        `Loss.distribution` and `Loss.prediction` belong to the same graph.

        Raises:
            RlkError: if the loss has no graph.
        """
        loss = self._loss()
        if not torch.compiler.is_compiling() and not loss.value.requires_grad:
            raise RlkError(
                f"the loss of group {self.group.name!r} has no graph: it depends on no parameter, "
                "or was detached. Compute it from what the policy returns, without no_grad or "
                "numpy."
            )
        return loss

    def gradient_of(self, loss: Loss) -> Tensor:
        """The flat gradient [P] of a loss from `differentiable`, averaged over ranks.

        It is zero where the loss does not depend on a parameter. The loss keeps its graph.
        """
        return self.mean(_gradient(loss.value, self.group, retain_graph=True))

    def accepts(self, loss: Loss) -> bool:
        """Whether every rank accepts the step of this loss."""
        return loss.accept is None or bool(self._everywhere(loss.accept))

    def _loss(self) -> Loss:
        loss = self.loss_fn(*self.args)
        if not isinstance(loss, Loss):
            raise RlkError(
                f"the loss of group {self.group.name!r}, or what rlk_wrap_loss put around it, "
                f"returned {type(loss).__name__}. Return rlk.records.Loss(value)."
            )
        if not isinstance(loss.value, Tensor) or loss.value.ndim:
            shape = getattr(loss.value, "shape", None)
            found = type(loss.value).__name__ if shape is None else f"of shape {tuple(shape)}"
            raise RlkError(
                f"the loss of group {self.group.name!r} is {found}. It must be a tensor "
                "with a graph and without dimensions: take its mean(), and do not call item()."
            )
        if loss.metrics is None or loss.outputs is None:
            raise RlkError(
                f"the loss of group {self.group.name!r}, or what rlk_wrap_loss put around it, has "
                "None for its metrics or outputs. Leave them out, or give a dict of tensors."
            )
        self.logged = loss.metrics.keys()
        return loss

    def _everywhere(self, accept: Tensor) -> Tensor:
        """Whether all ranks accept: the same bool on each."""
        if self.communicator.size == 1:
            return accept
        return self.mean(accept.to(torch.float32)) == 1.0


def _gradient(value: Tensor, group: Group, *, retain_graph: bool = False) -> Tensor:
    """The gradient [P] of a scalar by a group's parameters; zero where it depends on none."""
    parameters = tuple(group.parameters)
    if torch.compiler.is_compiling():
        found = torch.autograd.grad(
            value, parameters, retain_graph=retain_graph, materialize_grads=True
        )
        parts = list(found)
    else:
        try:
            gradients = _autograd(value, parameters, group.one, retain_graph)
        except RuntimeError:
            group.check_trainable()
            raise
        parts = [
            torch.zeros_like(parameter) if gradient is None else gradient
            for gradient, parameter in zip(gradients, parameters, strict=True)
        ]
    return torch._C._nn.flatten_dense_tensors(parts)


def _autograd(
    value: Tensor, parameters: tuple[Tensor, ...], one: Tensor, retain_graph: bool
) -> tuple[Tensor | None, ...]:
    """`torch.autograd.grad` without its checks, which take 30 µs, a tenth of a small update."""
    run_backward = torch.autograd.Variable._execution_engine.run_backward
    create_graph, allow_unreachable = False, True
    return run_backward(
        (value,),
        (one,),
        retain_graph,
        create_graph,
        parameters,
        allow_unreachable,
        accumulate_grad=False,
    )


class Optimiser:
    """`optimise(group, loss_fn, *args)`: one step of that group's optimiser."""

    def __init__(self, communicator: Communicator) -> None:
        self.groups: dict[str, Group] = {}
        self.steps: dict[str, OptimiserStep] = {}
        self._communicator = communicator
        self._wrappers: dict[str, Sequence[Any]] = {}
        self._wrapped: dict[tuple[str, LossFn], LossFn] = {}

    def add(self, group: Group, step: OptimiserStep, wrappers: Sequence[Any] = ()) -> None:
        """Declare a group, the step of its optimiser, and the wrappers of its losses.

        Groups may share parameters; each has its own optimiser.

        Raises:
            RlkError: if there is a group of that name already.
        """
        if group.name in self.groups:
            raise RlkError(
                f"the parameter group {group.name!r} is declared twice. Give the second one a name "
                "of its own: run.group('NAME', …), and optimise('NAME', …) where it learns."
            )
        self.groups[group.name] = group
        self.steps[group.name] = step
        self._wrappers[group.name] = wrappers

    def __call__(
        self, group: str, loss_fn: Callable[[*Arguments], Loss], *args: *Arguments
    ) -> Loss:
        """Take one step.

        Args:
            group: the name of the parameter group.
            loss_fn: a pure function of the arguments; plugins may wrap it.
            args: the arguments of the loss function.

        Returns:
            The loss that the optimiser reports, detached. If there are several groups, metrics that
            the optimiser adds have the group's name appended (`grad_norm_critic`).

        Raises:
            RlkError: if there is no such group, if the loss function or the optimiser returns no
                Loss, or if plugins wrap losses and every call passes a new function.
        """
        if group not in self.groups:
            raise RlkError(f"no parameter group {group!r}; there are {sorted(self.groups)}")
        evaluated: LossFn = loss_fn
        if self._wrappers[group]:
            evaluated = self._wrapped_loss(group, loss_fn, len(args))
        objective = Objective(self.groups[group], evaluated, args, self._communicator)
        step = self.steps[group]
        loss = step.step(objective)
        if not isinstance(loss, Loss):
            raise RlkError(
                f"step of the optimiser {type(step).__qualname__}, of group {group!r}, returned "
                f"{type(loss).__name__}. Return the rlk.records.Loss that it has computed."
            )
        loss = _detached(loss)
        if len(self.groups) == 1:
            return loss
        own = objective.logged
        named = {key if key in own else f"{key}_{group}": loss.metrics[key] for key in loss.metrics}
        return loss._replace(metrics=named)

    def _wrapped_loss(self, group: str, loss_fn: LossFn, arguments: int) -> LossFn:
        """The loss in its wrappers, made once per function: bound methods compare equal."""
        key = (group, loss_fn)
        if key not in self._wrapped:
            if sum(of == group for of, _ in self._wrapped) == MOST_LOSSES:
                raise RlkError(
                    f"optimise({group!r}, …) was called with more than {MOST_LOSSES} different "
                    "functions, which plugins wrap once each (rlk_wrap_loss). Pass a method and "
                    f"its arguments, optimise({group!r}, self.loss, batch), not a new function "
                    "(a lambda, a partial) for every update."
                )
            self._wrapped[key] = wrapped(loss_fn, self._wrappers[group], arguments)
        return self._wrapped[key]

    def learning_rates(self) -> dict[str, float]:
        """The rates now, by their logged names: with several groups, `learning_rate_critic`."""
        rates = {name: float(group.learning_rate) for name, group in self.groups.items()}
        if len(rates) == 1:
            (rate,) = rates.values()
            return {"learning_rate": rate}
        return {f"learning_rate_{name}": rate for name, rate in rates.items()}

    def state_dict(self) -> State:
        return {name: step.state_dict() for name, step in self.steps.items()}

    def load_state_dict(self, state: State) -> None:
        for name, step in self.steps.items():
            step.load_state_dict(state[name])


def _detached(loss: Loss) -> Loss:
    """A loss without its graph, so that nothing keeps it alive."""
    return loss._replace(
        value=loss.value.detach(),
        distribution=None if loss.distribution is None else loss.distribution.detach(),
        prediction=None if loss.prediction is None else loss.prediction.detach(),
        metrics=_detached_values(loss.metrics),
        outputs=_detached_values(loss.outputs),
    )


def _detached_values(values: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Values without their graphs; what is no tensor is refused where it is logged or used."""
    return {
        key: one.detach() if isinstance(one, Tensor) and one.requires_grad else one
        for key, one in values.items()
    }
