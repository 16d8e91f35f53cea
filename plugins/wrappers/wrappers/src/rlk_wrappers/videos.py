"""The videos of a run: when one begins, what it is called, and what happens if writing fails."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from rlk.errors import RlkError
from rlk.hookspecs import hookimpl
from rlk.records import Array
from rlk_films import Film, film, remove_unfinished_films

if TYPE_CHECKING:
    from rlk.protocols import State
    from rlk.running.run import Run

_NOWHERE = (
    "video-recorder records nothing: this run has no folder. Say video-recorder.video_folder=… or "
    "give the run one (out=…)."
)


class Videos:
    """Writes one video at a time; a run has one of these, among its plugins.

    A video that cannot be written is left out. In a run, the error is raised at the end of the
    iteration, or when the run is closed, where a failed write does not end training.

    Attributes:
        steps: number of vector steps of training so far, used in the names of videos.
        episodes: number of episodes that the first environment has begun.
        asked: the last episode in which a step was taken: no video of `every_episodes` begins in
            its middle.

    Args:
        folder: where videos are written; it is created with the first one. None: no videos.
        prefix: the beginning of the file names.
        fps: frames per second.
        in_run: whether a run calls the hooks.
        owned: whether nothing else writes to the folder. Then what a killed process left unfinished
            there is removed before the first video.
    """

    def __init__(
        self, folder: Path | None, prefix: str, fps: float, *, in_run: bool, owned: bool = False
    ) -> None:
        self.steps = self.episodes = self.asked = 0
        self._folder, self._prefix, self._fps, self._in_run = folder, prefix, fps, in_run
        self._error: OSError | None = None
        self._told, self._must_clean = False, owned
        self._open: list[Video] = []

    @property
    def has_folder(self) -> bool:
        """Whether there is a folder to write to."""
        return self._folder is not None

    def begin(self, first: int, last: int | None, *, evaluation: bool) -> Video | None:
        """A video of the steps from `first` to `last`, or None if it cannot be written."""
        if self._folder is None:
            if not self._told:
                self._told = True
                warnings.warn(_NOWHERE, stacklevel=2)
            return None
        what = "eval-" if evaluation else ""
        until = "" if last is None else f"-to-step-{last}"
        path = self._folder / f"{self._prefix}-{what}step-{first}{until}.mp4"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            if self._must_clean:
                remove_unfinished_films(self._folder, f"{self._prefix}-")
                self._must_clean = False
            video = Video(self, film(path, self._fps))
        except OSError as error:
            self.failed(error)
            return None
        except RlkError as error:
            if not isinstance(error.__cause__, OSError):  # ffmpeg is missing
                raise
            self.failed(error.__cause__)
            return None
        self._open.append(video)
        return video

    def forget(self, video: Video) -> None:
        """A video is complete, or it failed."""
        self._open.remove(video)

    def failed(self, error: OSError) -> None:
        """Keep the error until the end of the iteration, or of the run."""
        if not self._in_run:
            raise error
        self._error = error

    # ---- in a run --------------------------------------------------------------------------------

    @hookimpl
    def rlk_training_start(self, run: Run) -> None:
        """Of several ranks, only rank 0 has a folder; the others need not warn of that."""
        self._told |= run.communicator.rank > 0
        if self.close not in run.on_close:
            run.on_close.append(self.close)

    @hookimpl
    def rlk_update_end(self) -> None:
        """Raise the error of a write that failed since the last iteration."""
        error, self._error = self._error, None
        if error is not None:
            raise error

    def close(self) -> None:
        """End the videos that are being recorded, and raise the error of a write that failed."""
        for video in list(self._open):
            video.end()
        self.rlk_update_end()

    @hookimpl
    def rlk_save(self) -> State:
        return {"steps": self.steps, "episodes": self.episodes, "asked": self.asked}

    @hookimpl
    def rlk_load(self, state: State) -> None:
        """A video that was being recorded is not continued."""
        self.steps, self.episodes = int(state["steps"]), int(state["episodes"])
        self.asked = int(state["asked"])


class Video:
    """A video that is being recorded; after its end, or a failed write, it takes no more frames."""

    def __init__(self, videos: Videos, writer: Film) -> None:
        self._videos, self._writer, self._is_over = videos, writer, False

    def add(self, frame: Array) -> None:
        """Add a frame, uint8 [height, width, 3]."""
        if self._is_over:
            return
        try:
            self._writer.add(frame)
        except OSError as error:
            self._leave()
            self._writer.drop()
            self._videos.failed(error)

    def end(self) -> None:
        """Finish the video; it gets its name unless it could not be written."""
        if self._is_over:
            return
        self._leave()
        try:
            self._writer.end()
        except OSError as error:
            self._videos.failed(error)

    def _leave(self) -> None:
        self._is_over = True
        self._videos.forget(self)
