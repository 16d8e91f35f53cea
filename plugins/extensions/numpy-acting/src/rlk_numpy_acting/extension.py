"""The hook of acting in numpy: it replaces the algorithm's actor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk.hookspecs import hookimpl

if TYPE_CHECKING:
    from rlk.protocols import Actor
    from rlk.running.run import Run


class NumpyActing:
    """Replaces every actor that it supports by one in numpy; leaves all others unchanged."""

    @hookimpl(trylast=True)  # it is active by default: what a user adds is asked first
    def rlk_make_actor(self, run: Run, actor: Actor) -> Actor | None:
        """The same actor in numpy, or None if torch acts."""
        # Imported here: this module is loaded with every plan, the networks only with an agent.
        from rlk_numpy_acting.actors import in_numpy

        return in_numpy(actor)
