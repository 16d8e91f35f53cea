"""How the ranks of a plugin come to be: what tells that several were started, and what to type."""

from __future__ import annotations

import os
from collections.abc import Callable

import attrs

from rlk_ranks.guard import Guard


@attrs.frozen
class Launch:
    """The ways of one launcher."""

    name: str  #: of the plugin
    system: str  #: what the launcher is of, for people
    example: str  #: a command that starts four ranks
    variables: tuple[str, ...]  #: the launcher sets one of them for every rank
    #: The guard of this process, set up when it is first asked for; None for one rank alone.
    enter: Callable[[], Guard | None]

    def started_this(self) -> bool:
        """Whether the launcher started this process."""
        return any(name in os.environ for name in self.variables)
