"""A policy at play as a film: an animated GIF, or MP4 where there is ffmpeg."""

from __future__ import annotations

import importlib
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlk.errors import RlkError
from rlk_evaluate.evaluate import Evaluation, evaluate_agent
from rlk_evaluate.rendering import rendering

if TYPE_CHECKING:
    from rlk.agent import Agent

#: Frames per second where an environment does not give them.
DEFAULT_FPS = 30
#: Colours of a GIF's frame; rendered scenes are flat, and a frame is kept in memory until the end.
COLOURS = 128


def record(agent: Agent, path: Path, **play: Any) -> Evaluation:
    """Episodes as a film.

    Raises:
        RlkError: for an environment that gives no images, or where the film cannot be written.
    """
    fps = int(agent.run.env.metadata.get("render_fps") or DEFAULT_FPS)
    film = _Gif(path, fps) if path.suffix == ".gif" else _Mp4(path, fps)
    with rendering(agent, "rgb_array"), film:
        return evaluate_agent(
            agent, render_mode="rgb_array", on_step=lambda env: film.add(_frame(env)), **play
        )


def check_film(path: Path) -> None:
    """Raises RlkError for a film that could not be written, before anything is played for it."""
    if path.suffix not in (".gif", ".mp4"):
        raise RlkError(f"--record writes .gif and .mp4, not {path.suffix or path.name!r}.")
    if path.suffix == ".mp4" and _ffmpeg() is None:
        raise RlkError(".mp4 needs ffmpeg: pip install imageio-ffmpeg, or record a .gif.")
    if not path.absolute().parent.is_dir():
        raise RlkError(f"the folder {path.absolute().parent} does not exist.")


def _frame(env: Any) -> Any:
    """The image of the first environment, uint8 [height, width, 3]."""
    frames = env.render()
    if frames is None or len(frames) == 0 or frames[0] is None:
        raise RlkError("the environment rendered no image. Use --no-render for the returns only.")
    return frames[0]


class _Gif:
    """Frames as one animated image, through Pillow."""

    def __init__(self, path: Path, fps: int) -> None:
        self._path, self._milliseconds = path, max(20, round(1000 / fps))
        self._frames: list[Any] = []

    def __enter__(self) -> None: ...

    def add(self, frame: Any) -> None:
        from PIL import Image

        self._frames.append(Image.fromarray(frame).quantize(COLOURS))

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            first, *others = self._frames
            first.save(
                self._path, save_all=True, append_images=others, duration=self._milliseconds, loop=0
            )


class _Mp4:
    """Frames piped into ffmpeg, which is started when their size is known."""

    def __init__(self, path: Path, fps: int) -> None:
        self._path, self._fps = path, fps
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> None: ...

    def add(self, frame: Any) -> None:
        if self._process is None:
            height, width, _ = frame.shape
            size = ("-s", f"{width}x{height}", "-r", str(self._fps))
            # H.264 wants even sizes.
            out = (
                "-vf",
                "pad=ceil(iw/2)*2:ceil(ih/2)*2",
                "-pix_fmt",
                "yuv420p",
                "-loglevel",
                "error",
            )
            arguments = (
                "-y",
                "-f",
                "rawvideo",
                "-pix_fmt",
                "rgb24",
                *size,
                "-i",
                "-",
                *out,
                str(self._path),
            )
            self._process = subprocess.Popen([str(_ffmpeg()), *arguments], stdin=subprocess.PIPE)
        assert self._process.stdin is not None
        self._process.stdin.write(frame.tobytes())

    def __exit__(self, kind: object, *_: object) -> None:
        if self._process is None or self._process.stdin is None:
            return
        self._process.stdin.close()
        if self._process.wait() != 0 and kind is None:
            raise RlkError(f"ffmpeg could not write {self._path}.")


def _ffmpeg() -> str | None:
    """The program, from the PATH or from the package imageio-ffmpeg."""
    found = shutil.which("ffmpeg")
    if found:
        return found
    try:
        return str(importlib.import_module("imageio_ffmpeg").get_ffmpeg_exe())
    except ImportError:
        return None
