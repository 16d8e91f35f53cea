"""What rlk raises: what failed, whose it is, what was found, and what to type next."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class RlkError(Exception):
    """Everything rlk raises on purpose; the command line prints it without a traceback."""

    exit_code = 1


class PlanError(RlkError):
    """Refused while planning, before anything was built or written."""

    exit_code = 2


class UnknownName(PlanError):
    """A name that nothing installed answers to.

    Args:
        what: what the name should stand for (`storage`).
        name: what was asked for.
        known: the names there are; the nearest one is suggested.
        hint: a sentence to add.
    """

    def __init__(self, what: str, name: str, known: Iterable[str], hint: str = "") -> None:
        names = sorted(set(known))
        near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
        message = f"unknown {what} {name!r}."
        if near:
            message += f" Did you mean {near[0]!r}?"
        message += f" Known: {', '.join(names)}." if names else f" No {what} is installed."
        super().__init__(f"{message} {hint}".rstrip())


class BrokenPlugin(PlanError):
    """An installed component that was asked for and cannot be used."""


class NotFinite(RlkError):
    """A non-finite number where there must be none; the run has stopped before using it."""


class EnvironmentFailed(RlkError):
    """An environment raised, or the process that held it died."""


class BadFile(RlkError):
    """A model or checkpoint that is damaged, too new, or not one of rlk's."""
