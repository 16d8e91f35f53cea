"""How the ranks of a plugin come to be: what tells that several were started, and what to type."""

from __future__ import annotations

import os
from collections.abc import Callable

import attrs

from rlk_ranks.guard import Guard, guard_over
from rlk_ranks.world import World


@attrs.frozen
class Launch:
    """The ways of one launcher."""

    name: str  #: of the plugin
    system: str  #: what the launcher is of, for people
    example: str  #: a command that starts four ranks
    variables: tuple[str, ...]  #: the launcher sets one of them for every rank
    #: The ranks that were launched together, the same at every call; None for one alone.
    world: Callable[[], World | None]

    def enter(self) -> Guard | None:
        """The guard of this process, set up when it is first asked for; None for one rank alone.

        Raises:
            PlanError: if the ranks cannot meet.
        """
        return guard_over(self.world)

    def started_this(self) -> bool:
        """Whether the launcher started this process."""
        return any(name in os.environ for name in self.variables)
