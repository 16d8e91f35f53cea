"""`render`: a window that shows training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk.hookspecs import hookimpl
from rlk.planning.spec import Patch
from rlk_films import display_problem

if TYPE_CHECKING:
    from rlk.planning.environment import EnvChoice
    from rlk.planning.plan import Plan

#: Gymnasium's render mode for an environment that shows every step in a window.
HUMAN = "human"


class Render:
    """Makes the environments of training show each step in a window."""

    @hookimpl
    def rlk_configure(self) -> Patch:
        return Patch({"env.render_mode": HUMAN}, reason="a window shows training")

    @hookimpl
    def rlk_check_plan(self, plan: Plan) -> str | None:
        problem = window_problem(plan.env)
        if problem is None:
            return None
        return f"callback 'render': {problem}\nLeave it out, or film it: --plugin video-recorder"


def window_problem(env: EnvChoice) -> str | None:
    """Why an environment cannot show a window here, or None."""
    problem = display_problem()
    if problem is None and env.is_finished and not _has_window(env.passed):
        problem = (
            f"environment {env.name!r} was passed as a finished object, which was not made to be "
            "shown: make it with render_mode='human', or pass what makes it."
        )
    return problem


def _has_window(env: object) -> bool:
    return getattr(env, "render_mode", None) == HUMAN
