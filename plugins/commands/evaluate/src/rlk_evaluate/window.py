"""Shows a policy in a window."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rlk.errors import RlkError
from rlk_evaluate.evaluate import Evaluation, evaluate_agent
from rlk_evaluate.rendering import rendering

if TYPE_CHECKING:
    from rlk.agent import Agent


def show(agent: Agent, **play: Any) -> Evaluation:
    """Show episodes in a window.

    Raises:
        RlkError: if the environment cannot be shown; the message says what to do instead.
    """
    with rendering(agent, "human"):
        return evaluate_agent(agent, render_mode="human", **play)


def display_problem(environ: Mapping[str, str], platform: str) -> str | None:
    """Why no window can be opened here, or None; only Linux can tell without trying."""
    if not platform.startswith("linux") or "SDL_VIDEODRIVER" in environ:
        return None
    if environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"):
        return None
    return (
        "there is no display to open a window on: neither DISPLAY nor WAYLAND_DISPLAY is set "
        "(ssh -X sets one)."
    )


def check_display() -> None:
    """Raise RlkError if no window can be opened, before anything is loaded for it."""
    problem = display_problem(os.environ, sys.platform)
    if problem:
        raise RlkError(
            f"{problem}\nUse --no-render for the returns only, or --record FILE.gif for a film."
        )
