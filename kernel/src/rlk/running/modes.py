"""Modules that compute differently while they are trained: dropout, batch normalisation."""

from __future__ import annotations

import contextlib
import inspect
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager

from torch import nn


class Modes:
    """Switches a policy between acting and learning, where that makes a difference.

    The policy always acts in `eval()` mode, in training, predictions and evaluations; targets are
    copies in that mode. One thread may predict while another trains: they take turns, because the
    policy has one mode for all threads.
    """

    def __init__(self, policy: nn.Module) -> None:
        self._policy = policy.eval()
        self._differ = any(map(reads_mode, policy.modules()))
        self._turn = threading.RLock()

    def learning(self) -> AbstractContextManager[object]:
        """While the policy is updated; nothing happens if no module reads the mode."""
        return self._learning() if self._differ else contextlib.nullcontext()

    def acting(self) -> AbstractContextManager[object]:
        """While the policy acts outside of training, maybe in another thread: likewise."""
        return self._turn if self._differ else contextlib.nullcontext()

    @contextlib.contextmanager
    def _learning(self) -> Iterator[None]:
        with self._turn:
            self._policy.train()
            try:
                yield
            finally:
                self._policy.eval()


def reads_mode(module: nn.Module) -> bool:
    """Whether a method of a module's class, or of a base except `nn.Module`, reads `training`."""
    bases = (base for base in type(module).__mro__ if base not in nn.Module.__mro__)
    functions = (one for base in bases for one in vars(base).values() if inspect.isfunction(one))
    return any("training" in function.__code__.co_names for function in functions)
