"""Components that do nothing: for tests of how components are chosen, named and saved."""

from __future__ import annotations

from typing import Any

from rlk.hookspecs import hookimpl
from rlk.protocols import Actor


class Idle:
    """A plugin that implements a hook, and does nothing in it."""

    @hookimpl
    def rlk_update_end(self) -> None:
        """It does nothing."""


class IdleNoise:
    """A noise that changes no action, with any config."""

    def __init__(self, run: Any = None, config: Any = None) -> None:
        """It keeps neither."""

    def wrap(self, actor: Actor, policy: Any) -> Actor:
        return actor
