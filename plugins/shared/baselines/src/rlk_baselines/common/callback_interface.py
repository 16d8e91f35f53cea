"""The base classes of callbacks, with the interface of Stable Baselines 2.10."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from rlk.errors import PlanError
from rlk_baselines import logger

if TYPE_CHECKING:
    from rlk_baselines.common.base_class import BaseRLModel


def stops(result: Any) -> bool:
    """Whether a callback's result stops the training: False does, None does not.

    The False of numpy and of torch does, too: comparisons of their numbers return it.
    """
    if isinstance(result, torch.Tensor) and result.dtype == torch.bool and result.numel() == 1:
        return not result.item()
    return isinstance(result, (bool, np.bool_)) and not result


class BaseCallback:
    """The base class of all callbacks.

    Args:
        verbose: the level of output; 0 prints nothing.

    Attributes:
        model: the model that learns.
        training_env: its environment.
        n_calls: the number of calls so far.
        num_timesteps: environment steps so far, summed over all environments.
        locals, globals: variables of the training.
        logger: `rlk_baselines.logger`; for a model of `rlk_sb3`, the model's own logger.
        parent: the callback that calls this one, or None.
    """

    model: BaseRLModel = None  # type: ignore[assignment]  # until init_callback

    def __init__(self, verbose: int = 0) -> None:
        self.training_env: Any = None
        self.n_calls = 0
        self.num_timesteps = 0
        self.verbose = verbose
        self.locals: dict[str, Any] = {}
        self.globals: dict[str, Any] = {}
        self.logger: Any = None
        self.parent: BaseCallback | None = None

    def init_callback(self, model: BaseRLModel) -> None:
        """Set the model and its environment; called at the start of every `learn`.

        Raises:
            PlanError: if a subclass has an `__init__` that does not call this one, or lacks an
                `_on_step` that the model requires.
        """
        name = type(self).__name__
        if not hasattr(self, "n_calls"):
            raise PlanError(
                f"callback {name} is not initialised: its __init__ does not call that of "
                f"BaseCallback. Write super().__init__(verbose) first in {name}.__init__."
            )
        requires_steps = getattr(model, "requires_on_step", False)
        if requires_steps and type(self)._on_step is BaseCallback._on_step:
            raise PlanError(
                f"callback {name} has no method _on_step, which Stable-Baselines3 requires. Write "
                f"def _on_step(self): return True in {name}; look for a method whose name is "
                "misspelt."
            )
        self.model = model
        self.training_env = model.get_env()
        self.logger = getattr(model, "logger", logger)
        self._init_callback()

    def _init_callback(self) -> None:
        """Called after the model is set; to be overridden."""

    def on_training_start(self, locals_: dict[str, Any], globals_: dict[str, Any]) -> None:
        """Called before the first collection."""
        self.locals, self.globals = locals_, globals_
        self.num_timesteps = self.model.num_timesteps
        self._on_training_start()

    def _on_training_start(self) -> None:
        """Called before the first collection; to be overridden."""

    def on_rollout_start(self) -> None:
        """Called before every collection."""
        self._on_rollout_start()

    def _on_rollout_start(self) -> None:
        """Called before every collection; to be overridden."""

    def _on_step(self) -> bool:
        """Called after every step of the environments; to be overridden. False stops training."""
        return True

    def on_step(self) -> bool:
        """Called after every step of the environments, or by a parent when its event happens."""
        self.n_calls += 1
        self.num_timesteps = self.model.num_timesteps
        return self._on_step()

    def __call__(self) -> bool:
        return self.on_step()

    def on_rollout_end(self) -> None:
        """Called after every collection, before the policy is updated."""
        self._on_rollout_end()

    def _on_rollout_end(self) -> None:
        """Called after every collection; to be overridden."""

    def on_training_end(self) -> None:
        """Called before `learn` returns."""
        self._on_training_end()

    def _on_training_end(self) -> None:
        """Called before `learn` returns; to be overridden."""

    def update_locals(self, locals_: dict[str, Any]) -> None:
        """Update `locals` with the current variables of the training."""
        self.locals.update(locals_)
        self.update_child_locals(locals_)

    def update_child_locals(self, locals_: dict[str, Any]) -> None:
        """Pass them on to the callbacks that this one calls."""
        for callback in self._called_callbacks():
            callback.update_locals(locals_)

    def _called_callbacks(self) -> Sequence[BaseCallback]:
        """The callbacks that this one calls; to be overridden."""
        return ()


class EventCallback(BaseCallback):
    """Calls another callback when an event happens.

    Args:
        callback: the callback to call, or None.
        verbose: 0 prints nothing.

    Raises:
        PlanError: if `callback` is not a callback.
    """

    def __init__(self, callback: BaseCallback | None = None, verbose: int = 0) -> None:
        super().__init__(verbose=verbose)
        self.callback = callback
        if callback is not None:
            refuse_other(callback, type(self).__name__)
            callback.parent = self

    def init_callback(self, model: BaseRLModel) -> None:
        super().init_callback(model)
        for callback in self._called_callbacks():
            callback.init_callback(model)

    def _on_training_start(self) -> None:
        for callback in self._called_callbacks():
            callback.on_training_start(self.locals, self.globals)

    def _on_event(self) -> bool:
        return self.callback() if self.callback is not None else True

    def _on_step(self) -> bool:
        return True

    def _called_callbacks(self) -> Sequence[BaseCallback]:
        return () if self.callback is None else (self.callback,)


def refuse_other(callback: Any, caller: str) -> None:
    """Refuse what is not a callback.

    Args:
        callback: what was given as one.
        caller: the name of the class that would call it.

    Raises:
        PlanError: for a function, a list, a class or anything else.
    """
    if isinstance(callback, BaseCallback):
        return
    instead = "Derive a class from BaseCallback and pass an instance of it."
    if isinstance(callback, type):
        instead = f"Write {callback.__name__}(…), an instance of the class."
    elif isinstance(callback, (list, tuple)):
        instead = "Write CallbackList([…])."
    elif callable(callback):
        instead = "Write ConvertCallback(function)."
    raise PlanError(f"{caller} calls a BaseCallback, got {callback!r}. {instead}")
