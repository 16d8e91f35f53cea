"""Writes a film frame by frame, to a temporary file that is renamed when the film is complete."""

from __future__ import annotations

import importlib.util
import itertools
import os
import tempfile
from collections.abc import Generator
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

import numpy as np

from rlk.errors import RlkError
from rlk.files import looking_at, replacing, unfinished
from rlk.records import Array

#: Frames per second by default.
FPS = 30
#: How the name of an MP4 ends that is being written: `.play.mp4.77-5f0c9a3e.unfinished.mp4`.
_UNFINISHED = ".unfinished.mp4"
#: Colours of a GIF frame; rendered scenes have few, and all frames are kept in memory.
COLOURS = 128


class Film(Protocol):
    """The result of `film`; as a context it ends the film, or drops it after an exception."""

    def add(self, frame: Array) -> None: ...  #: uint8 [height, width, 3], all of one size
    def end(self) -> None: ...  #: the film stands under its name; nothing, if it has no frame
    def drop(self) -> None: ...  #: no film

    def __enter__(self) -> Film: ...
    def __exit__(self, *error: Any) -> None: ...


def film(path: Path, fps: float = FPS) -> Film:
    """A film that is written to `path`, MP4 or GIF.

    Raises:
        RlkError: as `check_film`.
    """
    check_film(path)
    return _Gif(path, fps) if path.suffix == ".gif" else _Mp4(path, fps)


def check_film(path: Path) -> None:
    """Raise RlkError for a film that could not be written, before any episode is played for it."""
    if path.suffix not in (".gif", ".mp4"):
        raise RlkError(f"a film is a .gif or an .mp4, not {path.suffix or path.name!r}.")
    if path.suffix == ".mp4" and not mp4_is_there():
        raise RlkError(f"an .mp4 needs ffmpeg. {INSTALL}, or record a .gif.")
    with looking_at(path, f"{path} cannot be written", RlkError):
        if not path.absolute().parent.is_dir():
            raise RlkError(f"the folder {path.absolute().parent} does not exist.")
        if path.exists() and not path.is_file():
            raise RlkError(f"{path} cannot be written: it is not a regular file. Name another one.")
        folder = Path(os.path.realpath(path)).parent
        # Tests whether the folder is writable.
        with tempfile.NamedTemporaryFile(prefix=".", suffix=_UNFINISHED, dir=folder):
            pass


def remove_unfinished_films(folder: Path, prefix: str) -> None:
    """Remove what killed processes left unfinished of films whose names begin with `prefix`.

    Only for a folder where no other process writes such films: theirs would be removed, too.
    """
    for path in folder.iterdir():
        if path.name.startswith(f".{prefix}") and path.name.endswith(_UNFINISHED):
            path.unlink(missing_ok=True)


#: What to do if ffmpeg is missing.
INSTALL = 'Type: pip install "rlk-films[mp4]"'


def mp4_is_there() -> bool:
    """Whether MP4 films can be written."""
    return importlib.util.find_spec("imageio_ffmpeg") is not None


class _Ends:
    """Ends a film that is used as a context, and refuses a frame of another size."""

    _shape: tuple[int, ...] | None = None

    def _check_size(self, frame: Array) -> None:
        """RlkError for a frame of another size than the first."""
        if self._shape is None:
            self._shape = frame.shape
        if frame.shape != self._shape:
            (high, wide), (first_high, first_wide) = frame.shape[:2], self._shape[:2]
            raise RlkError(
                f"all images of a film have one size, but one is {wide} x {high} and the first was "
                f"{first_wide} x {first_high}. Let the environment's render() return one size."
            )

    def __enter__(self: Any) -> Any:
        return self

    def __exit__(
        self: Any,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None:
            self.end()
        else:
            self.drop()


class _Gif(_Ends):
    """Frames as one animated image, through Pillow."""

    def __init__(self, path: Path, fps: float) -> None:
        self._path, self._fps = path, fps
        self._frames: list[Any] = []

    def add(self, frame: Array) -> None:
        from PIL import Image

        self._check_size(frame)
        self._frames.append(Image.fromarray(frame).quantize(COLOURS))

    def end(self) -> None:
        if not self._frames:
            return
        first, *others = self._frames
        shown = {"save_all": True, "duration": self._milliseconds(), "loop": 0}
        with replacing(self._path) as file:
            first.save(file, "GIF", append_images=others, **shown)
        self.drop()

    def _milliseconds(self) -> list[int]:
        """How long each frame is shown: whole hundredths of a second, all of a GIF's clock.

        Each begins at the nearest one to its time, and is shown for the two that browsers accept.
        """
        begins = [round(100 * number / self._fps) for number in range(len(self._frames) + 1)]
        return [10 * max(2, end - begin) for begin, end in itertools.pairwise(begins)]

    def drop(self) -> None:
        self._frames = []


class _Mp4(_Ends):
    """Frames piped into ffmpeg, which is started when their size is known."""

    def __init__(self, path: Path, fps: float) -> None:
        self._path, self._fps = path, fps
        self._replaced = Path(os.path.realpath(path))  # a link stays
        self._aside = unfinished(self._replaced, _UNFINISHED)
        self._pipe: Generator[None, Any, None] | None = None
        self._frames = 0

    def add(self, frame: Array) -> None:
        self._check_size(frame)
        height, width, _ = frame.shape
        # H.264 requires even sizes.
        even = np.pad(frame, ((0, height % 2), (0, width % 2), (0, 0)))
        if self._pipe is None:
            self._pipe = self._started((even.shape[1], even.shape[0]))
        try:
            self._pipe.send(np.ascontiguousarray(even))
        except OSError as error:  # whose text is ffmpeg's whole command line
            raise self._unwritten() from error
        self._frames += 1

    def _started(self, size: tuple[int, int]) -> Generator[None, Any, None]:
        from imageio_ffmpeg import write_frames

        pipe: Generator[None, Any, None] = write_frames(
            str(self._aside),
            size,
            fps=self._fps,
            codec="libx264",
            macro_block_size=1,
            ffmpeg_log_level="quiet",
        )
        pipe.send(None)
        return pipe

    def end(self) -> None:
        if self._pipe is None:
            return
        self._pipe.close()
        self._pipe = None
        if self._found() != self._frames:
            self.drop()
            raise self._unwritten()
        self._aside.replace(self._replaced)

    def _unwritten(self) -> OSError:
        """The error about an ffmpeg that ended early; it gives no reason that could be read."""
        return OSError(f"ffmpeg ended before {self._path} was complete, as it does on a full disk")

    def _found(self) -> int:
        """The number of frames in the film; ffmpeg does not report a full disk."""
        from imageio_ffmpeg import count_frames_and_secs

        try:
            frames, _ = count_frames_and_secs(str(self._aside))
        except (RuntimeError, OSError):
            return -1
        return int(frames)

    def drop(self) -> None:
        if self._pipe is not None:
            self._pipe.close()
            self._pipe = None
        self._aside.unlink(missing_ok=True)
