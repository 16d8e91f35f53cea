"""The agents that exist in this process, also those that no variable holds any more.

A notebook keeps what its cells display, and the last error keeps what its functions held: an agent
among these keeps its environments, its memory and the folder of its run.
"""

from __future__ import annotations

import weakref
from typing import Any

#: By identity, in the order in which they were made.
_agents = weakref.WeakValueDictionary[int, Any]()


def remember(agent: Any) -> None:
    """Let `made_agents` find a new agent while it exists; this does not keep it alive."""
    _agents[id(agent)] = agent


def made_agents() -> list[Any]:
    """Every `rlk.Agent` that exists, the oldest first; in a fork also those of its parent."""
    found = [agent() for agent in _agents.valuerefs()]  # a copy: other threads may make agents
    return [agent for agent in found if agent is not None]
