"""Declares which module of a package registers which ids with Gymnasium.

In its `component.py`, named by an entry point of the group `rlk.environments`:

    component = Component(
        name="acme-worlds",
        factory=ids("acme/*", registered_by="acme_worlds.registration"),
        summary="acme/Maze-v0 and other mazes",
    )
"""

from __future__ import annotations

from fnmatch import fnmatchcase

import attrs

from rlk_gymnasium.made import ById


def ids(*patterns: str, registered_by: str, install: str = "") -> Ids:
    """A source of environments: the ids that match patterns (`acme/*`) and that a module registers.

    Args:
        registered_by: the module; importing it registers the ids.
        install: what to type if that module is not installed.
    """
    return Ids(patterns, registered_by, install)


@attrs.frozen
class Ids:
    """The result of `ids`: a function of a name."""

    patterns: tuple[str, ...]
    registered_by: str
    install: str = ""

    def __call__(self, asked: str) -> ById | None:
        """A function that makes the environment; None if its name matches no pattern.

        None also for `module:Id-v0`, where the user says which module registers it.
        """
        if ":" in asked or not any(fnmatchcase(asked, pattern) for pattern in self.patterns):
            return None
        return ById(asked, self.registered_by, install=self.install)

    def known(self) -> list[str]:
        """The patterns, for messages."""
        return list(self.patterns)
