"""Names the actor that returns no Act.

In training that is found out where something has failed: actors stand in each other, and a step has
no time to look at what each returns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rlk.records import Act
from rlk.registry.answers import check_given

if TYPE_CHECKING:
    from rlk.protocols import Actor
    from rlk.running.run import Run


def check_actors(run: Run, observation: Any) -> None:
    """Ask the actors of training, the innermost first, because a collection has failed.

    One of them may hand on what another inside it has returned, or fail on it. The first that
    raises is the last that is asked: the error of the collection says more.

    Args:
        observation: [N, …], of all environments.

    Raises:
        BrokenPlugin: naming the first that returns no Act.
    """
    start = np.ones(run.n_envs, dtype=bool)
    for actor in run.actors:
        try:
            act = actor.act(observation, actor.start(run.n_envs), start)
        except Exception:
            return
        check_act(actor, act)


def check_act(actor: Actor, act: Any) -> None:
    """BrokenPlugin, naming the class of the actor, if what it returned is no Act."""
    if not isinstance(act, Act):
        check_given(f"actor {type(actor).__module__}.{type(actor).__qualname__}", "act", act)
