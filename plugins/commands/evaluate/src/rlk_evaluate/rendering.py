"""Environments for rendering, and what to do if one cannot be rendered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rlk.errors import EnvironmentFailed, PlanError, RlkError

if TYPE_CHECKING:
    from rlk.agent import Agent


@contextmanager
def rendering(agent: Agent, mode: str) -> Iterator[None]:
    """A context in which a failure of rendering becomes an RlkError that says what to do."""
    import gymnasium as gym

    name = agent.plan.env.name
    modes = list(agent.run.env.metadata.get("render_modes", ()))
    # Gymnasium itself shows the images of an environment that cannot open a window.
    if mode not in modes and "rgb_array" not in modes:
        known = ", ".join(map(str, modes)) or "none"
        raise RlkError(
            f"{name} cannot be shown (its render modes: {known}). "
            "Use --no-render for the returns only."
        )
    adapters = [choice.name for choice in agent.plan.wrappers if choice.component.adapts]
    if mode not in modes and adapters:
        raise RlkError(
            f"{name}, in the wrapper {adapters[0]}, gives images and cannot be shown in a window. "
            "Use --record FILE.gif for a film, or --no-render for the returns only."
        )
    try:
        yield
    except (gym.error.DependencyNotInstalled, EnvironmentFailed) as error:
        # A vector environment raises its own error from that of the environment.
        needs = error.__cause__ if isinstance(error, EnvironmentFailed) else error
        if not isinstance(needs, gym.error.DependencyNotInstalled):
            raise
        raise RlkError(
            f"{name} cannot be shown: {needs}.\nUse --no-render for the returns only."
        ) from error
    except PlanError as error:  # the agent has such an environment, without the render mode
        raise RlkError(f"{error}\nUse --no-render for the returns only.") from error
