"""Environments by EnvPool's names: `envpool/Pong-v5`. This module does not import EnvPool."""

from __future__ import annotations

from typing import Any

import attrs

from rlk.errors import PlanError

PREFIX = "envpool/"


@attrs.frozen
class Task:
    """A task of EnvPool, which only the backend `envpool` can make."""

    id: str

    def __call__(self, **keywords: Any) -> Any:
        """Raises PlanError: a task has no single environment."""
        raise PlanError(
            f"environment '{PREFIX}{self.id}' is made by EnvPool, many at a time: only commands "
            "that train or evaluate can use it. Use --vec-env envpool with them, as in rlk run "
            f"--env {PREFIX}{self.id} --vec-env envpool."
        )


def task_named(asked: str) -> Task | None:
    """The task of a name that begins with `envpool/`, whether or not EnvPool has it."""
    task = asked.removeprefix(PREFIX)
    return Task(task) if asked.startswith(PREFIX) and task else None
