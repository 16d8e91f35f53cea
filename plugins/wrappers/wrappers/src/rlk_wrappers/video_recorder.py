"""`video-recorder`: films environments while they are trained in (`VecVideoRecorder`)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from gymnasium.vector import VectorEnv

from rlk.errors import PlanError, RlkError
from rlk.files import users_path
from rlk.records import Array
from rlk.registry.hooks import Hooks
from rlk_films import as_image, tiled, without_display
from rlk_films.writer import FPS
from rlk_wrappers.config_steps import VideoRecorderConfig
from rlk_wrappers.layer import Result, State, VectorLayer
from rlk_wrappers.videos import Video, Videos

TITLE = "wrapper 'video-recorder' (rlk-wrappers)"
NAME = "video-recorder"
FOLDER = "videos"
MODE = "rgb_array"


class VideoRecorder(VectorLayer):
    """Films all environments of a vector, side by side.

    Args:
        training: whether these are the environments of training; those of an evaluation are filmed
            from each start of an evaluation, and only with `evaluation=True`.
        out: the run's folder, or None.
        hooks: those of the run, which hold the `Videos` that its environments share.
        trigger: called with the number of the step before every step, unless a video is being
            recorded; returns whether one begins. With None, the settings decide.

    Raises:
        PlanError: if the environments cannot render images.
    """

    name = NAME

    def __init__(
        self,
        env: VectorEnv[Any, Any, Any],
        config: VideoRecorderConfig | None = None,
        *,
        training: bool = True,
        out: str | os.PathLike[str] | None = None,
        hooks: Hooks | None = None,
        trigger: Callable[[int], bool] | None = None,
    ) -> None:
        super().__init__(env)
        self._config = config = config or VideoRecorderConfig()
        self._training = training
        if training and env.render_mode != MODE:
            raise PlanError(_no_images(env))
        self._videos = _shared_videos(env, config, out, hooks)
        # An evaluation may have been asked for in a window, or for a model without a folder.
        filmed = config.evaluation and env.render_mode == MODE and self._videos.has_folder
        self._records = training or filmed
        self._trigger = trigger or self._is_due
        self._video: Video | None = None
        self._left = 0  # steps that remain of the current video
        self._wanted = False  # whether an evaluation has begun
        self._counted = False  # whether a reset just before has counted an episode

    @staticmethod
    def env_keywords(config: VideoRecorderConfig) -> Mapping[str, Any]:
        """The keyword arguments with which environments render images."""
        return {"render_mode": MODE}

    # ---- when a video begins and ends ------------------------------------------------------------

    def _begun(self, observation: Any, which: Array) -> Any:
        if which[0]:
            self._episode_begins()
            self._counted = self._training
        if not self._training and which.all():
            self._end()
            self._wanted = True
        return observation

    def _before(self, actions: Any) -> None:
        """The first frame of a video shows the state in which its first action is taken."""
        self._counted = False
        if self._records and self._video is None:
            wanted, self._wanted = self._wanted, False
            if self._training:
                wanted = self._trigger(self._videos.steps)
            if wanted:
                self._begin()
        if self._training:  # while a video is recorded, too: none begins in the middle of it
            self._videos.asked = self._videos.episodes

    def _stepped(self, actions: Any, result: Result) -> Result:
        if self._training:
            self._videos.steps += 1
        if self._video is not None:
            self._video.add(self._picture())
            self._left -= 1
            if self._left == 0:
                self._end()
        if result[2][0] or result[3][0]:
            self._episode_begins()
        return result

    def _episode_begins(self) -> None:
        """An episode of the first environment begins."""
        if self._training:
            self._videos.episodes += 1
        if self._config.video_length == 0:
            self._end()

    def _is_due(self, step: int) -> bool:
        """Whether, by the settings, a video begins with this step."""
        config, videos = self._config, self._videos
        if config.every_steps is not None and step % config.every_steps == 0:
            return True
        if config.every_episodes is None or videos.asked == videos.episodes:
            return False
        return (videos.episodes - 1) % config.every_episodes == 0

    def _begin(self) -> None:
        first, length = self._videos.steps, self._config.video_length
        last = first + length if length and self._training else None
        self._video = self._videos.begin(first, last, evaluation=not self._training)
        self._left = length
        if self._video is not None:
            self._video.add(self._picture())

    def _end(self) -> None:
        if self._video is not None:
            self._video.end()
        self._video = None

    def _picture(self) -> Array:
        """The images of all environments as one, tiled as in Stable Baselines, uint8 [H, W, 3]."""
        with without_display():
            frames: Any = self.env.render()
        if frames is None or any(frame is None for frame in frames):
            raise RlkError(_no_images(self.env))
        images = [
            as_image(frame, f"{TITLE}: environment {i}", "leave it out")
            for i, frame in enumerate(frames)
        ]
        return tiled(images)

    def set_state(self, states: list[State]) -> None:
        """As in `VectorLayer`; the episode that a reset just before began is not counted."""
        if self._counted:
            self._videos.episodes -= 1
            self._counted = False
        super().set_state(states)

    def close(self, **kwargs: Any) -> None:
        self._end()
        super().close(**kwargs)


def _shared_videos(env: Any, config: VideoRecorderConfig, out: Any, hooks: Hooks | None) -> Videos:
    """The `Videos` of the run, made once; another environment of the run uses the same."""
    known: Videos | None = None if hooks is None else hooks.get(NAME)
    if known is not None:
        return known
    folder = config.video_folder or (None if out is None else os.path.join(out, FOLDER))
    videos = Videos(
        None if folder is None else users_path(folder).absolute(),
        config.name_prefix,
        float(env.metadata.get("render_fps") or FPS),
        in_run=hooks is not None,
        owned=hooks is not None and config.video_folder is None,
    )
    if hooks is not None:
        hooks.activate(videos, NAME, "rlk-wrappers")
    return videos


def _no_images(env: Any) -> str:
    modes = ", ".join(map(str, env.metadata.get("render_modes", ()))) or "none"
    return (
        f"{TITLE} films environments that are made with render_mode={MODE!r}, but these have "
        f"render_mode={env.render_mode!r} (they know: {modes}). Make them so, or leave it out."
    )
