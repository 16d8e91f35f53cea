"""Several ranks continue from one checkpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk.errors import PlanError

if TYPE_CHECKING:
    from rlk.agent import Agent
    from rlk_resume.found import Found


def refuse_other_checkpoints(agent: Agent, found: Found) -> None:
    """Close the agent, and raise PlanError, if ranks have found checkpoints of other timesteps."""
    at = agent.run.communicator.gather(found.timesteps)
    if len(set(at)) > 1:
        agent.close()
        raise PlanError(
            f"the ranks found checkpoints of different timesteps ({', '.join(map(str, at))}), "
            "because the run before was still saving one. Type it again."
        )
