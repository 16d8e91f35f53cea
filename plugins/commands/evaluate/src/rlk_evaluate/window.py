"""Seeing a policy play: in a window, or as a film."""

from __future__ import annotations

import importlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlk.errors import EnvironmentFailed, RlkError
from rlk_evaluate.evaluate import Evaluation, evaluate_agent

if TYPE_CHECKING:
    from rlk.agent import Agent

#: Frames per second where an environment does not say.
DEFAULT_FPS = 30
#: Colours of a GIF's frame; rendered scenes are flat, and a frame is kept in memory until the end.
COLOURS = 128


def show(agent: Agent, **play: Any) -> Evaluation:
    """Episodes in a window.

    Raises:
        RlkError: for an environment that cannot be shown, saying what to do instead.
    """
    with _rendering(agent, "human"):
        return evaluate_agent(agent, render_mode="human", **play)


def record(agent: Agent, path: Path, **play: Any) -> Evaluation:
    """Episodes as a film.

    Raises:
        RlkError: for an environment that gives no images, or where the film cannot be written.
    """
    fps = int(agent.run.env.metadata.get("render_fps") or DEFAULT_FPS)
    film = _Gif(path, fps) if path.suffix == ".gif" else _Mp4(path, fps)
    with _rendering(agent, "rgb_array"), film:
        return evaluate_agent(
            agent, render_mode="rgb_array", on_step=lambda env: film.add(_frame(env)), **play
        )


def display_problem(environ: Mapping[str, str], platform: str) -> str | None:
    """Why no window can be opened here, or None; only Linux says so before one is tried."""
    if not platform.startswith("linux") or "SDL_VIDEODRIVER" in environ:
        return None
    if environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"):
        return None
    return (
        "there is no display to open a window on: neither DISPLAY nor WAYLAND_DISPLAY is set "
        "(ssh -X sets one)."
    )


def check_display() -> None:
    """Raises RlkError where no window can be opened, before anything is loaded for it."""
    problem = display_problem(os.environ, sys.platform)
    if problem:
        raise RlkError(
            f"{problem}\nUse --no-render for the returns only, or --record FILE.gif for a film."
        )


def check_film(path: Path) -> None:
    """Raises RlkError for a film that could not be written, before anything is played for it."""
    if path.suffix not in (".gif", ".mp4"):
        raise RlkError(f"--record writes .gif and .mp4, not {path.suffix or path.name!r}.")
    if path.suffix == ".mp4" and _ffmpeg() is None:
        raise RlkError(".mp4 needs ffmpeg: pip install imageio-ffmpeg, or record a .gif.")
    if not path.absolute().parent.is_dir():
        raise RlkError(f"the folder {path.absolute().parent} does not exist.")


@contextmanager
def _rendering(agent: Agent, mode: str) -> Iterator[None]:
    """Says what to do where an environment cannot be rendered so."""
    import gymnasium as gym

    name = agent.plan.env.name
    modes = list(agent.run.env.metadata.get("render_modes", ()))
    # Gymnasium itself shows the images of an environment that has no window of its own.
    if mode not in modes and "rgb_array" not in modes:
        known = ", ".join(map(str, modes)) or "none"
        raise RlkError(
            f"{name} cannot be shown (its render modes: {known}). "
            "Use --no-render for the returns only."
        )
    try:
        yield
    except (gym.error.DependencyNotInstalled, EnvironmentFailed) as error:
        # A vector environment tells of it in its own words; in a worker's case as text only.
        found = re.search(r"DependencyNotInstalled: (.+)", str(error))
        if found is None and isinstance(error, EnvironmentFailed):
            raise
        needs = error if found is None else found[1]
        raise RlkError(
            f"{name} cannot be shown: {needs}.\nUse --no-render for the returns only."
        ) from error
    except TypeError as error:
        if "render_mode" not in str(error):
            raise
        raise RlkError(
            f"{name} takes no keyword render_mode, so it cannot be shown. Use --no-render."
        ) from error


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
