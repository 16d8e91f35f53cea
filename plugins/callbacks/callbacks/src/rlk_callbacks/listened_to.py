"""Which run a callback listens to, for callbacks that begin anew with another one, and where."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlk.planning.environment import EnvChoice
    from rlk.running.run import Run


class ListenedTo:
    """The run that a callback listens to; one object may serve several runs, one after another."""

    def __init__(self) -> None:
        self._run: weakref.ref[Run] | None = None
        self._env: EnvChoice | None = None

    def is_new(self, run: Run) -> bool:
        """Whether this is another run than last time, of which nothing is known yet."""
        if self._run is not None and self._run() is run:
            return False
        self._run, self._env = weakref.ref(run), run.plan.env
        return True

    def has_moved(self, run: Run) -> bool:
        """Whether the run trains in another environment (`set_env`) than when last asked."""
        before, self._env = self._env, run.plan.env
        return before is not None and not _are_equal(before, self._env)


def _are_equal(one: EnvChoice, other: EnvChoice) -> bool:
    """Whether episodes of two environments are of one task: the same name, class or object.

    `set_env` keeps the keywords of an environment that has the same name.
    """
    is_same = one.maker is other.maker and one.passed is other.passed
    return is_same or (one.source != "" and one.name == other.name)
