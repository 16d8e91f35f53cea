"""How the ranks of a plugin are started: how a process detects it, and what to type."""

from __future__ import annotations

import os
from collections.abc import Callable

import attrs

from rlk_ranks.guard import Guard, guard_over
from rlk_ranks.world import World


@attrs.frozen
class Launch:
    """The properties of one launcher."""

    name: str  #: of the plugin
    system: str  #: what the launcher belongs to, for messages
    example: str  #: a command that starts four ranks
    variables: tuple[str, ...]  #: the launcher sets one of them for every rank
    #: The ranks that were launched together, the same at every call; None for a single rank.
    world: Callable[[], World | None]

    def enter(self) -> Guard | None:
        """The guard of this process, created at the first call; None for a single rank.

        It is what a component names as `connects`: a rank that is refused afterwards ends all.

        Raises:
            PlanError: if the ranks cannot connect.
        """
        return guard_over(self.world)

    def started_this(self) -> bool:
        """Whether the launcher started this process."""
        return any(name in os.environ for name in self.variables)
