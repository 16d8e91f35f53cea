"""A plugin that keeps every update of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from rlk.hookspecs import hookimpl
from rlk.spaces import map_observation
from rlk_testing.tools.states import same

if TYPE_CHECKING:
    from rlk.records import Update
    from rlk.running.run import Run


class WatchUpdates:
    """A plugin that records the batch and the result of every update.

    Attributes:
        updates: (batch, copies of its tensors before the update, update), in order.
        written: names of batch fields that an update changed.
        calls: lifecycle hook -> number of calls.
    """

    def __init__(self) -> None:
        self.updates: list[tuple[Any, dict[str, Any], Update]] = []
        self.written: set[str] = set()
        self.calls: dict[str, int] = {}

    @hookimpl
    def rlk_wrap_update(self, run: Run) -> Callable[..., Any]:
        def wrapper(update: Callable[..., Any]) -> Callable[..., Any]:
            def watched(batch: Any, optimise: Any) -> Any:
                before = tensors_of(batch)
                made = update(batch, optimise)
                # Compare now: a batch may be a view of the storage, which collecting overwrites.
                after = tensors_of(batch)
                self.written |= {name for name in before if not same(before[name], after[name])}
                self.updates.append((batch, before, made))
                return made

            return watched

        return wrapper

    def _count(self, hook: str) -> None:
        self.calls[hook] = self.calls.get(hook, 0) + 1

    @hookimpl
    def rlk_training_start(self) -> None:
        self._count("training_start")

    @hookimpl
    def rlk_rollout_start(self) -> None:
        self._count("rollout_start")

    @hookimpl
    def rlk_step(self) -> None:
        self._count("step")

    @hookimpl
    def rlk_rollout_end(self) -> None:
        self._count("rollout_end")

    @hookimpl
    def rlk_update_end(self) -> None:
        self._count("update_end")

    @hookimpl
    def rlk_training_end(self) -> None:
        self._count("training_end")


def tensors_of(batch: Any) -> dict[str, Any]:
    """Copies of all tensors and arrays in a batch, by field."""
    import torch

    found: dict[str, Any] = {}
    for name, value in vars(batch).items():
        parts = value if isinstance(value, dict) else {"": value}
        for key, part in parts.items():
            if isinstance(part, (torch.Tensor, np.ndarray)):
                found[f"{name}.{key}" if key else name] = map_observation(
                    lambda array: (
                        array.clone() if isinstance(array, torch.Tensor) else array.copy()
                    ),
                    part,
                )
    return found
