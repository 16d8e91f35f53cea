"""Where acting in numpy joins a run: it puts its own actor in the place of the algorithm's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk.hookspecs import hookimpl

if TYPE_CHECKING:
    from rlk.protocols import Actor
    from rlk.running.run import Run


class NumpyActing:
    """Replaces every actor that it knows by one in numpy; all others stay as they are."""

    @hookimpl(trylast=True)  # it joined by itself: what a user puts in is asked first
    def rlk_make_actor(self, run: Run, actor: Actor) -> Actor | None:
        """The same actor in numpy, or None where torch acts."""
        # Imported here: this module is loaded with every plan, the networks only with an agent.
        from rlk_numpy_acting.actors import in_numpy

        return in_numpy(actor)
