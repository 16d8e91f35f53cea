"""Finds the actor that does not return an Act.

In training it is looked for only after something has failed: actors are nested, and a step has no
time to check what each returns.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from rlk.records import Act
from rlk.registry.answers import check_given

if TYPE_CHECKING:
    from rlk.protocols import Actor


def check_actors(actors: Iterable[Actor], observation: Any, n_envs: int) -> None:
    """Call the training actors, the innermost first, because a collection has failed.

    An outer actor may pass on what an inner one returned, or fail because of it. The check ends at
    the first that raises: the error of the collection says more.

    Args:
        actors: those of a run (`Run.actors`).
        observation: [N, …], of all environments.
        n_envs: how many environments these are.

    Raises:
        BrokenPlugin: naming the first that does not return an Act.
    """
    start = np.ones(n_envs, dtype=bool)
    for actor in actors:
        try:
            act = actor.act(observation, actor.start(n_envs), start)
        except Exception:
            return
        check_act(actor, act)


def check_act(actor: Actor, act: Any) -> None:
    """BrokenPlugin, naming the class of the actor, if it did not return an Act."""
    if not isinstance(act, Act):
        check_given(f"actor {type(actor).__module__}.{type(actor).__qualname__}", "act", act)
