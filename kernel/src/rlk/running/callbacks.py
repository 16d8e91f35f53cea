"""Callbacks, which listen to a run during one call of `learn`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from rlk.component import Component
from rlk.errors import PlanError
from rlk.hookspecs import hookimpl
from rlk.planning.choice import Choice
from rlk.registry.entry import Entry
from rlk.registry.external import PASSED
from rlk.registry.hooks import LIFECYCLE, Hooks
from rlk.registry.implementations import implemented
from rlk.running.listeners import look_up_listeners
from rlk.signatures import takes, written
from rlk.strict_types import own_number

if TYPE_CHECKING:
    from rlk.running.run import Run

    #: A function of the run, several callbacks, or an object that implements hooks.
    Callback = Callable[[Run], bool | None] | Iterable[object] | object | None

#: The hooks of a plugin's state: what saves is called for callbacks, too, and what loads only for
#: plugins.
_OF_STATE = {"rlk_save", "rlk_load", "rlk_save_with_model", "rlk_load_with_model"}
#: The hooks that they may implement. The plan is checked when training is about to begin.
ANSWERED = {*LIFECYCLE, "rlk_check_plan", *_OF_STATE}


@contextlib.contextmanager
def listening(run: Run, callback: Callback) -> Iterator[None]:
    """Let callbacks listen to a run within this context, after its plugins.

    Args:
        run: the run.
        callback: an object that implements lifecycle hooks, a function of the run that is called
            after every vector step, a list or tuple of these, or None.

    Raises:
        PlanError: for anything else, or an object that implements another hook of planning or
            building, which are over, or whose `rlk_check_plan` finds a problem.
    """
    callbacks = [_as_plugin(one) for one in _listed(callback)]
    before, names = run.listeners, list[str]()
    try:
        for number, one in enumerate(callbacks, 1):
            name = f"callback {number} ({type(one).__name__}) of learn"
            run.hooks.activate(one, name)
            names.append(name)
        if names:
            _check_plan(run, callbacks, names)
            run.listeners = look_up_listeners(run.hooks, run.failed_writes)
        yield
    finally:
        for name in names:
            run.hooks.deactivate(name)
        run.listeners = before


def _listed(callback: Callback) -> Sequence[Any]:
    if callback is None:
        return []
    return callback if isinstance(callback, (list, tuple)) else [callback]


def _as_plugin(callback: Any) -> Any:
    """An object that implements the hooks of one callback."""
    answered = implemented(callback)
    if callable(callback) and not answered and not isinstance(callback, type):
        _refuse_other_arguments(callback)
        return _AfterEveryStep(callback)
    if isinstance(callback, (str, type)):
        raise PlanError(
            f"callback must be an object that answers hooks, or a function of the run, got "
            f"{callback!r}. Plugins are asked for by name where the agent is made: plugins=[…]"
        )
    late = [hook for hook in answered if hook not in ANSWERED]
    if late:
        raise PlanError(
            f"callback {type(callback).__name__} answers {', '.join(late)}, which is called before "
            "training. Pass it where the agent is made: plugins=[…]"
        )
    return callback


def _check_plan(run: Run, callbacks: Sequence[Any], names: Sequence[str]) -> None:
    """PlanError with the problems that callbacks find in the run's plan, which names them, too."""
    hooks = Hooks()
    for one, name in zip(callbacks, names, strict=True):
        hooks.activate(one, name)
    if not hooks.implementers("rlk_check_plan"):
        return
    choices = [_choice(one, number) for number, one in enumerate(callbacks, 1)]
    plan = attrs.evolve(run.plan, callbacks=(*run.plan.callbacks, *choices))
    if problems := hooks.all("rlk_check_plan", plan=plan):
        raise PlanError("\n".join(problems))


def _choice(callback: Any, number: int) -> Choice:
    """A callback of this call in its place in the plan."""
    component = Component(name=f"callback-{number}", factory=lambda: callback)
    return Choice.of(Entry("callbacks", component.name, PASSED, "", lambda: component))


def _refuse_other_arguments(function: Callable[..., Any]) -> None:
    """PlanError for a function that cannot be called with the run alone."""
    if not takes(function, 1):
        raise PlanError(
            f"callback {written(function)} is called with the run alone, after every vector step: "
            "def callback(run). It stops the training by False."
        )


class _AfterEveryStep:
    """Calls a function of the run after every vector step; False stops the training."""

    def __init__(self, function: Callable[[Run], Any]) -> None:
        self._function = function

    @hookimpl
    def rlk_step(self, run: Run) -> bool | None:
        answer = own_number(self._function(run))  # numpy's comparisons give booleans of their own
        return False if answer is False else None
