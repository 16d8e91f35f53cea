"""Records a policy as a film: an animated GIF, or MP4 if ffmpeg is installed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from rlk.errors import RlkError
from rlk.running.vec_env import make_vec_env
from rlk.vector_wrapper import TransparentVector
from rlk_evaluate.last_frame import last_frame_of, last_frames
from rlk_evaluate.rendering import rendering
from rlk_evaluation.evaluate import Evaluation, evaluate_agent, no_second_environment
from rlk_films import Film, as_image, film, without_display
from rlk_films.writer import FPS

if TYPE_CHECKING:
    from rlk.agent import Agent

MODE = "rgb_array"


def record(agent: Agent, path: Path, **play: Any) -> Evaluation:
    """Record episodes as a film, each from the image of its reset to that of its last step.

    Raises:
        RlkError: if the environment returns no images, or the film cannot be written.
    """
    if complain := no_second_environment(agent.plan.env):
        raise RlkError(f"cannot record a film: {complain}")
    fps = float(agent.run.env.metadata.get("render_fps") or FPS)
    plan = attrs.evolve(agent.plan, wrappers=(*agent.plan.wrappers, last_frames()))
    try:
        with rendering(agent, MODE), without_display(), film(path, fps) as writer:
            env = make_vec_env(plan, agent.run.hooks, 1, training=False, render_mode=MODE)
            try:
                return evaluate_agent(agent, env=_Filmed(env, writer, plan.env.name), **play)
            finally:
                env.close()
    except OSError as error:
        raise RlkError(f"{path} could not be written: {error}") from error


class _Filmed(TransparentVector):
    """A vector of one environment, which adds an image after each reset and each step to a film.

    The image of a reset waits for the first step, so that the film does not end with the beginning
    of an episode that nobody plays.
    """

    withheld = ("step_async", "step_wait")

    def __init__(self, env: Any, writer: Film, name: str) -> None:
        super().__init__(env)
        self._writer, self._name = writer, name
        self._begins = True

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> Any:
        self._begins = True
        return self.env.reset(seed=seed, options=options)

    def step(self, actions: Any) -> Any:
        if self._begins:
            self._add(_rendered(self.env))
        result = self.env.step(actions)
        _, _, terminated, truncated, infos = result
        self._begins = bool(terminated[0] or truncated[0])
        frame = last_frame_of(infos, 0) if self._begins else _rendered(self.env)
        if frame is not None:
            self._add(frame)
        return result

    def _add(self, frame: Any) -> None:
        whose, otherwise = f"environment {self._name!r}", "use --no-render for the returns only"
        self._writer.add(as_image(frame, whose, otherwise))


def _rendered(env: Any) -> Any:
    """What the first environment renders; RlkError for nothing."""
    frames = env.render()
    if frames is None or len(frames) == 0 or frames[0] is None:
        raise RlkError("the environment rendered no image. Use --no-render for the returns only.")
    return frames[0]
