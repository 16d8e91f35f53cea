"""Modules that compute differently while they are trained: dropout, batch normalisation."""

from __future__ import annotations

import inspect

from torch import nn


class Modes:
    """Switches a policy between acting and learning, where that makes a difference.

    The policy always acts in `eval()` mode, in training, predictions and evaluations; targets are
    copies in that mode. `set_learning` switches it for the time of its updates.
    """

    def __init__(self, policy: nn.Module) -> None:
        self._policy = policy.eval()
        self._differ = any(map(reads_mode, policy.modules()))

    def set_learning(self, learning: bool) -> None:
        """Say whether it is being updated; nothing happens if no module reads the mode."""
        if self._differ:
            self._policy.train(learning)


def reads_mode(module: nn.Module) -> bool:
    """Whether a method of a module's class, or of a base except `nn.Module`, reads `training`."""
    bases = (base for base in type(module).__mro__ if base not in nn.Module.__mro__)
    functions = (one for base in bases for one in vars(base).values() if inspect.isfunction(one))
    return any("training" in function.__code__.co_names for function in functions)
