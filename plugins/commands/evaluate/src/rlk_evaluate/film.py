"""Records a policy as a film: an animated GIF, or MP4 if ffmpeg is installed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlk.errors import RlkError
from rlk_evaluate.evaluate import Evaluation, evaluate_agent
from rlk_evaluate.rendering import rendering
from rlk_films import film, without_display
from rlk_films.writer import FPS

if TYPE_CHECKING:
    from rlk.agent import Agent


def record(agent: Agent, path: Path, **play: Any) -> Evaluation:
    """Record episodes as a film.

    Raises:
        RlkError: if the environment returns no images, or the film cannot be written.
    """
    fps = float(agent.run.env.metadata.get("render_fps") or FPS)
    try:
        with rendering(agent, "rgb_array"), without_display(), film(path, fps) as writer:
            return evaluate_agent(
                agent,
                render_mode="rgb_array",
                on_step=lambda env: writer.add(_frame(env)),
                **play,
            )
    except OSError as error:
        raise RlkError(f"{path} could not be written: {error}") from error


def _frame(env: Any) -> Any:
    """The image of the first environment, uint8 [height, width, 3]."""
    frames = env.render()
    if frames is None or len(frames) == 0 or frames[0] is None:
        raise RlkError("the environment rendered no image. Use --no-render for the returns only.")
    return frames[0]
