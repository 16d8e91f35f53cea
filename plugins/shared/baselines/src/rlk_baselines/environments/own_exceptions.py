"""Lets an environment's exception arrive as it is, as from the vectors of Stable Baselines."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from rlk.errors import RlkError
from rlk_vector_environments.failures import EnvironmentRaised


@contextlib.contextmanager
def own_exceptions() -> Iterator[None]:
    """Raise the exception of an environment instead of rlk's, which names the environment.

    A note on the exception says which environment failed, and when. An error by which rlk refuses
    what an environment returned remains an EnvironmentFailed.
    """
    try:
        yield
    except EnvironmentRaised as error:
        own = error.__cause__
        if own is None or isinstance(own, RlkError):
            raise
        own.add_note(f"rlk: {error.headline}\n{error.history}".rstrip())
        raise own from own.__cause__
