"""`VecVideoRecorder`: records a vector's frames as mp4 files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rlk_baselines.common.vec_env.base_vec_env import Stepped, VecEnv, VecEnvWrapper
from rlk_films import Film, as_image, film, without_display
from rlk_films.writer import FPS


class VecVideoRecorder(VecEnvWrapper):
    """Records videos of all environments, tiled.

    Args:
        venv: the vector.
        video_folder: the folder for the files; it is made if it does not exist.
        record_video_trigger: a function of the number of steps so far; a video starts when it
            returns True.
        video_length: steps per video.
        name_prefix: the start of the file names, before `-step-FIRST-to-step-LAST.mp4`.
    """

    def __init__(
        self,
        venv: VecEnv,
        video_folder: str,
        record_video_trigger: Callable[[int], bool],
        video_length: int = 200,
        name_prefix: str = "rl-video",
    ) -> None:
        super().__init__(venv)
        self.record_video_trigger = record_video_trigger
        self.video_folder = os.path.abspath(video_folder)
        os.makedirs(self.video_folder, exist_ok=True)
        self.name_prefix, self.video_length = name_prefix, video_length
        self.step_id = 0
        self.recorded_frames = 0
        self._film: Film | None = None

    @property
    def recording(self) -> bool:
        """Whether a video is being recorded."""
        return self._film is not None

    def reset(self) -> Any:
        observation = self.venv.reset()
        self.start_video_recorder()
        return observation

    def start_video_recorder(self) -> None:
        """Start a video, if none is being recorded and the trigger returns True.

        Raises:
            RlkError: if the package that writes videos is not installed.
        """
        if self._film is None and self.record_video_trigger(self.step_id):
            last = self.step_id + self.video_length
            name = f"{self.name_prefix}-step-{self.step_id}-to-step-{last}.mp4"
            self._film = film(Path(self.video_folder, name), self._fps())
            self._capture(self._film)

    def step_wait(self) -> Stepped:
        result = self.venv.step_wait()
        self.step_id += 1
        if self._film is None:
            self.start_video_recorder()
        else:
            self._capture(self._film)
            if self.recorded_frames > self.video_length:
                self.close_video_recorder()
        return result

    def _capture(self, video: Film) -> None:
        try:
            with without_display():
                rendered = self.venv.render(mode="rgb_array")
            video.add(as_image(rendered, "VecVideoRecorder: the environment", "leave it out"))
        except BaseException:
            video.drop()
            self._film, self.recorded_frames = None, 0
            raise
        self.recorded_frames += 1

    def close_video_recorder(self) -> None:
        """Finish and write the current video, if there is one."""
        if self._film is not None:
            self._film.end()
        self._film, self.recorded_frames = None, 0

    def _fps(self) -> int:
        """Frames per second: from the metadata of the vector, or else `FPS`."""
        metadata = getattr(self.venv, "metadata", None) or {}
        return int(metadata.get("render_fps") or metadata.get("video.frames_per_second") or FPS)

    def close(self) -> None:
        self.close_video_recorder()
        self.venv.close()
