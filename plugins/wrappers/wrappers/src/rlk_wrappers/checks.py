"""What planning refuses of the wrappers' settings. Imports no torch and no gymnasium."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from rlk.errors import PlanError

if TYPE_CHECKING:
    from rlk.planning.plan import Plan
    from rlk_wrappers.config_steps import VideoRecorderConfig


def can_write_videos(config: VideoRecorderConfig, plan: Plan) -> None:
    """PlanError where MP4 cannot be written."""
    if importlib.util.find_spec("imageio_ffmpeg") is None:
        raise PlanError(
            "wrapper 'video-recorder' (rlk-wrappers) writes MP4, which needs ffmpeg. Type: pip "
            "install 'rlk-wrappers[video]'"
        )
