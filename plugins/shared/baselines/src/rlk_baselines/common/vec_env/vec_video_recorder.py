"""`VecVideoRecorder`: frames of a vector as mp4 files."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from rlk.records import Array
from rlk_baselines.common.vec_env.vec_env import Stepped, VecEnv, VecEnvWrapper
from rlk_baselines.environments.video import write_video


class VecVideoRecorder(VecEnvWrapper):
    """Records videos of all environments, tiled.

    Args:
        venv: the vector.
        video_folder: where files go; it is made if it is not there.
        record_video_trigger: called with the number of steps so far; whether a video begins now.
        video_length: steps in a video.
        name_prefix: what the names of files begin with, before `-step-FIRST-to-step-LAST.mp4`.
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
        self.recording = False
        self.recorded_frames = 0
        self._frames: list[Array] = []

    def reset(self) -> Any:
        observation = self.venv.reset()
        self.start_video_recorder()
        return observation

    def start_video_recorder(self) -> None:
        """Begin a video, if the trigger says so."""
        if not self.recording and self.record_video_trigger(self.step_id):
            self.recording, self._frames = True, []
            self._capture()

    def step_wait(self) -> Stepped:
        result = self.venv.step_wait()
        self.step_id += 1
        if self.recording:
            self._capture()
            if self.recorded_frames > self.video_length:
                self.close_video_recorder()
        else:
            self.start_video_recorder()
        return result

    def _capture(self) -> None:
        self._frames.append(self.venv.render(mode="rgb_array"))
        self.recorded_frames = len(self._frames)

    def close_video_recorder(self) -> None:
        """Write the video that is being recorded, if there is one."""
        if self.recording:
            first = self.step_id - self.recorded_frames + 1
            name = f"{self.name_prefix}-step-{first}-to-step-{first + self.video_length}.mp4"
            write_video(os.path.join(self.video_folder, name), self._frames, self._fps())
        self.recording, self.recorded_frames, self._frames = False, 0, []

    def _fps(self) -> int:
        """Frames per second, as the environments say."""
        metadata = getattr(self.venv, "metadata", None) or {}
        return int(metadata.get("render_fps") or metadata.get("video.frames_per_second") or 30)

    def close(self) -> None:
        self.close_video_recorder()
        self.venv.close()
