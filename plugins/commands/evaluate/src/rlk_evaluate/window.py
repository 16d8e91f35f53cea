"""Shows a policy in a window."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlk.errors import RlkError
from rlk_evaluate.rendering import rendering
from rlk_evaluation.evaluate import Evaluation, evaluate_agent
from rlk_films import display_problem

if TYPE_CHECKING:
    from rlk.agent import Agent


def show(agent: Agent, **play: Any) -> Evaluation:
    """Show episodes in a window.

    Raises:
        RlkError: if the environment cannot be shown; the message says what to do instead.
    """
    with rendering(agent, "human"):
        return evaluate_agent(agent, render_mode="human", **play)


def check_display() -> None:
    """Raise RlkError if no window can be opened, before anything is loaded for it."""
    if problem := display_problem():
        raise RlkError(
            f"{problem}\nUse --no-render for the returns only, or --record FILE.gif for a film."
        )
