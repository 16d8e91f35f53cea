"""Writes frames as a video."""

from __future__ import annotations

from collections.abc import Sequence

from rlk.errors import PlanError
from rlk.records import Array


def write_video(path: str, frames: Sequence[Array], fps: int) -> None:
    """Write frames, uint8 [H, W, 3], as a file whose suffix says the format.

    Raises:
        PlanError: if the package that writes videos is not installed.
    """
    try:
        import imageio.v2 as imageio
        import imageio_ffmpeg  # noqa: F401 - imageio finds it by itself, and says less without it
    except ImportError:
        raise PlanError(
            "videos need imageio and its ffmpeg: pip install 'rlk-baselines[video]'"
        ) from None
    with imageio.get_writer(path, fps=fps, macro_block_size=2) as writer:
        for frame in frames:
            writer.append_data(frame)  # type: ignore[attr-defined]
